import { GantryError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isObject, parseJson } from '../../kernel/json.ts';
import type { Called } from '../../operations/called.ts';
import type { OpenQuestion, OpenQuestionField } from '../../operations/questions.ts';
import { questionsAnswer, questionsDecline, questionsList } from '../../operations/questions.ts';
import type { Command, CommandContext, ExitCode } from '../command-context.ts';
import { openGateway } from '../gateway.ts';
import { toCell } from '../output/printable.ts';
import { createPrinter } from '../output/printer.ts';

const withoutServers = { needs: 'none' } as const;

/** `gantry questions list` */
export const listQuestions: Command<[]> = async (context) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context, withoutServers);
  const found = await gateway.run(questionsList, {});
  printer.result(found, () =>
    found.questions.length === 0
      ? 'No server waits for an answer.'
      : found.questions.map((question) => describe(question)).join('\n\n'),
  );
  return 0;
};

/** `gantry questions answer ID --answers JSON` */
export const answerQuestion: Command<[string, { answers?: string }]> = async (context, id, { answers }) => {
  const given = answers === undefined ? undefined : toAnswers(answers);
  await using gateway = await openGateway(context, withoutServers);
  if (given) return told(context, await gateway.run(questionsAnswer, { id, answers: given }));
  const { questions } = await gateway.run(questionsList, {});
  const question = questions.find((open) => open.id === id);
  throw usage(
    question
      ? `Say what to answer: --answers '${exampleOf(question.fields)}'.\n${describe(question)}`
      : `There is no open question "${id.slice(0, 100)}"; see "gantry questions list".`,
  );
};

/** `gantry questions decline ID` */
export const declineQuestion: Command<[string]> = async (context, id) => {
  await using gateway = await openGateway(context, withoutServers);
  return told(context, await gateway.run(questionsDecline, { id }));
};

const told = (context: CommandContext, called: Called): ExitCode => {
  const printer = createPrinter(context);
  if (called.isError && !context.flags.json) printer.note(printer.foreign(called.content));
  else printer.result(called, () => printer.foreign(called.content));
  return called.isError ? 1 : 0;
};

const describe = ({ id, server, tool, message, fields, session, expiresAt }: OpenQuestion): string =>
  [
    `${id}  ${toCell(server)}: ${toCell(tool)}`,
    `  "${toCell(message)}"`,
    ...fields.map((field) => `  ${toCell(field.name)}: ${typeOf(field)}${aboutOf(field)}`),
    `  ${session === null ? 'asked of you' : `handed back to ${toCell(session)}`}${expiresAt === null ? '' : `, open until ${expiresAt}`}`,
  ].join('\n');

const typeOf = ({ type, options = [], required }: OpenQuestionField): string => {
  const shown = options.map(({ value, title }) => toCell(title ?? value)).join(' | ');
  return `${shown === '' ? type : `${type} of ${shown}`}${required ? ', required' : ''}`;
};

const aboutOf = ({ title, description }: OpenQuestionField): string => {
  const about = description ?? title;
  return about === undefined ? '' : ` (${toCell(about)})`;
};

const exampleOf = (fields: readonly OpenQuestionField[]): string =>
  `{${fields.map(({ name }) => `"${toCell(name)}": …`).join(', ')}}`;

const toAnswers = (text: string): JsonObject => {
  const parsed = parseJson(text);
  if (parsed.ok && isObject(parsed.value)) return parsed.value as JsonObject;
  const problem = parsed.ok ? 'is no JSON object' : `is not JSON: ${parsed.reason}`;
  throw usage(`"--answers" ${problem}; write an object such as '{"seats": 4}'.`);
};

const usage = (message: string): GantryError => new GantryError('usage', message);
