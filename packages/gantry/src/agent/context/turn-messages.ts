import type { ModelMessage } from 'ai';
import type { AssistantTurn, StoredTurn, UserTurn } from '../../memory/conversation-turn.ts';
import { providerToolName } from '../../schema/tool-name.ts';
import { toDialect } from '../adapt-for-model.ts';
import { shownBefore } from '../loop/context-items.ts';
import { interruptedText, repairHistory } from '../loop/repair-history.ts';
import { saidMessage, resultsMessage } from '../loop/step-messages.ts';

/** The calls of older turns cost more room than they are worth; their words stay. */
const turnsWithCalls = 6;

/**
 * A conversation as messages for a model of this provider: what was said, and for the last turns the calls and their results. Two messages
 * of a user in a row become one, because some models refuse them.
 */
export const toMessages = (turns: readonly StoredTurn[], provider: string | undefined): readonly ModelMessage[] => {
  const dialect = toDialect(provider);
  const messages = turns.flatMap((turn, at): readonly ModelMessage[] => {
    if (turn.role === 'user') return [{ role: 'user', content: saidText(turn) }];
    const withCalls = at >= turns.length - turnsWithCalls;
    return [
      ...(withCalls ? stepMessages(turn, (name) => providerToolName(name, dialect)) : []),
      ...finalMessage(turn, withCalls),
    ];
  });
  return merged(repairHistory(messages));
};

/** What was said, and which files came with it. */
const saidText = (turn: UserTurn): string => {
  const { attachments = [] } = turn;
  return attachments.length === 0
    ? userText(turn)
    : `${userText(turn)}\n\n(Attached: ${attachments.map((path) => `\`${path}\``).join(', ')})`;
};

/** What stands as the user's is marked where it is not his. */
export const userText = ({ origin, text }: Pick<UserTurn, 'origin' | 'text'>): string => {
  switch (origin) {
    case 'person':
      return text;
    case 'notice':
      return `[Notice of the system, not from the user] ${text}`;
    case 'schedule':
      return `[Scheduled task, not from the user] ${text}`;
  }
};

const stepMessages = ({ steps }: AssistantTurn, historyName: (name: string) => string): readonly ModelMessage[] =>
  steps.flatMap(({ text, calls }): readonly ModelMessage[] => {
    const shown = calls.filter((call) => call.shown !== undefined);
    const named = calls
      .filter((call) => call.shown === undefined)
      .map((call) => ({ ...call, name: historyName(call.name) }));
    const said = text.trim() === '' ? [] : [{ type: 'text' as const, text }];
    return [
      ...(said.length + named.length === 0 ? [] : [saidMessage(said, named)]),
      ...(named.length === 0
        ? []
        : [
            resultsMessage(
              named.map(({ id, name, status, result }) => ({
                id,
                name,
                output: { type: 'text', value: status === 'running' ? interruptedText : (result ?? '') || '(nothing)' },
              })),
            ),
          ]),
      ...shown.map((call) => shownBefore(call.name, call.shown ?? '')),
    ];
  });

const finalMessage = ({ status, text }: AssistantTurn, hasCalls: boolean): readonly ModelMessage[] => {
  switch (status) {
    case 'done':
      return text === '' ? [] : [{ role: 'assistant', content: text }];
    case 'failed':
      return [{ role: 'assistant', content: `(This turn failed: ${text})` }];
    case 'stopped':
      return [
        { role: 'assistant', content: text === '' ? '(This turn was stopped by the user.)' : `${text} (stopped)` },
      ];
    case 'running':
      return hasCalls ? [{ role: 'assistant', content: '(This turn was interrupted.)' }] : [];
  }
};

const merged = (messages: readonly ModelMessage[]): readonly ModelMessage[] => {
  const result: ModelMessage[] = [];
  for (const message of messages) {
    const last = result.at(-1);
    if (
      last?.role === 'user' &&
      message.role === 'user' &&
      typeof last.content === 'string' &&
      typeof message.content === 'string'
    )
      result[result.length - 1] = { role: 'user', content: `${last.content}\n\n${message.content}` };
    else result.push(message);
  }
  return result;
};
