import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { flattenText } from '../../../text/flatten.ts';
import { shownName } from './form-field.ts';
import type { OpenCall, QuestionRound } from './open-call.ts';

const maxShownRounds = 10;

/**
 * The text block that goes behind the result of a call: what the server asked, how it was answered, and what the agent can do about a
 * question that was declined. `undefined` when nothing was asked. Values of answers are not part of it.
 */
export const elicitationNote = (call: OpenCall): string | undefined => {
  const { rounds, server } = call;
  if (rounds.length === 0) return undefined;
  const shown = rounds.slice(0, maxShownRounds);
  const declined = rounds.filter(({ action }) => action === 'decline');
  return [
    `[gantry] The server "${server}" asked ${rounds.length === 1 ? 'one question' : `${rounds.length} questions`} during this call. The quoted words are the server's.`,
    ...shown.map((round, index) => `${index + 1}. ${describeRound(round)}`),
    ...(rounds.length > shown.length ? [`… and ${rounds.length - shown.length} more.`] : []),
    ...(declined.length > 0 ? [`The result may be incomplete. ${adviceOn(declined, call)}`] : []),
  ].join('\n');
};

/** The same about declined questions in one line, for the message of a call that failed; `undefined` when none was declined. */
export const declinedSentence = (call: OpenCall): string | undefined => {
  const declined = call.rounds.filter(({ action }) => action === 'decline');
  if (declined.length === 0) return undefined;
  const questions = declined.slice(0, 3).map(({ message, reason }) => `"${shownMessage(message)}"${because(reason)}`);
  const more = declined.length > questions.length ? ` and ${declined.length - questions.length} more` : '';
  return `During the call the server asked what was declined: ${questions.join('; ')}${more}. ${adviceOn(declined, call)}`;
};

const describeRound = ({ message, fields, action, reason, answeredFields }: QuestionRound): string => {
  const asked = fields.length > 0 ? `fields ${listed(fields)}` : 'no fields';
  const question = `"${shownMessage(message)}" (${asked}):`;
  switch (action) {
    case 'accept':
      return `${question} answered${answeredFields.length > 0 ? ` with ${listed(answeredFields)}` : ''}.`;
    case 'decline':
      return `${question} declined${because(reason)}.`;
    case 'cancel':
      return `${question} no longer wanted.`;
  }
};

const adviceOn = (declined: readonly QuestionRound[], { tool, inputSchema }: OpenCall): string => {
  const fields = [...new Set(declined.flatMap((round) => round.fields))];
  const parameters = parametersOf(tool, inputSchema);
  if (fields.length > 0 && parameters === undefined)
    return (
      `If the tool takes ${listed(fields)} as arguments, supply them and call it again; otherwise calling again asks the same, so ` +
      'ask the user.'
    );
  const isParameter = (field: string): boolean => parameters?.has(field.toLowerCase()) ?? false;
  const supplied = fields.filter(isParameter);
  const others = fields.filter((field) => !isParameter(field));
  return [
    ...(supplied.length > 0 ? [`Supply ${listed(supplied)} as arguments of the tool and call it again.`] : []),
    ...(others.length > 0
      ? [`The tool has no argument for ${listed(others)}: calling it again asks the same, so ask the user.`]
      : []),
    ...(declined.some((round) => round.fields.length === 0)
      ? ['It asked for a confirmation: calling again asks the same, so ask the user.']
      : []),
  ].join(' ');
};

/** The parameters in small letters; `undefined` when nobody knows what the tool takes, as with one that calls other tools by name. */
const parametersOf = (tool: string, inputSchema: JsonObject | undefined): ReadonlySet<string> | undefined => {
  const properties = inputSchema?.['properties'];
  if (/^(?:invoke|call|execute|run)[_-]?tool$/i.test(tool) || !isObject(properties)) return undefined;
  return new Set(Object.keys(properties).map((name) => shownName(name).toLowerCase()));
};

const shownMessage = (message: string): string => flattenText(message, { maxChars: 500 });
const because = (reason: string | undefined): string => (reason === undefined ? '' : ` (${reason.replace(/\.$/, '')})`);
const listed = (names: readonly string[]): string => names.map((name) => `"${shownName(name)}"`).join(', ');
