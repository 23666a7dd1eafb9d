import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { LedgerEntry } from '../store/ledger.ts';
import type { QuestionDesk } from '../mcp/bridge/questions/question-desk.ts';
import type { QuestionRecord } from '../mcp/bridge/questions/question-record.ts';
import type { Called } from './called.ts';
import { calledSchema, toCalled } from './called.ts';
import { jsonObject } from './json-shapes.ts';
import type { NoInput, Operation } from './operation.ts';
import { defineOperation } from './operation.ts';
import type { OperationDeps } from './operation-deps.ts';

/** A question of a server that waits for an answer. */
export interface OpenQuestion {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  /** Of the call, with secrets masked. */
  readonly arguments: JsonObject;
  readonly message: string;
  readonly fields: readonly OpenQuestionField[];
  /** The session that it was handed back to; null for a call without one. */
  readonly session: string | null;
  /** ISO times. */
  readonly askedAt: string;
  readonly expiresAt: string | null;
}

/** A field of a form. */
export type OpenQuestionField = QuestionRecord['form']['fields'][number];

const id = z.string().min(1).describe('Id of the question: "q_" and 32 hex digits.');

const field: z.ZodType<OpenQuestionField> = z.looseObject({
  name: z.string(),
  title: z.string().optional(),
  description: z.string().optional(),
  type: z.enum(['string', 'number', 'integer', 'boolean', 'choice', 'choices']),
  required: z.boolean(),
  options: z.array(z.strictObject({ value: z.string(), title: z.string().optional() })).optional(),
});

/** `questions.list` */
export const questionsList: Operation<NoInput, { readonly questions: readonly OpenQuestion[] }> = defineOperation({
  name: 'questions.list',
  summary: 'Lists the questions of servers that wait for an answer, oldest first.',
  method: 'GET',
  path: '/questions',
  input: z.strictObject({}),
  output: z.strictObject({
    questions: z.array(
      z.strictObject({
        id: z.string(),
        server: z.string(),
        tool: z.string(),
        arguments: jsonObject.describe('Of the call, with secrets masked.'),
        message: z.string(),
        fields: z.array(field),
        session: z.string().nullable().describe('The session that it was handed back to; null for a call without one.'),
        askedAt: z.string(),
        expiresAt: z.string().nullable(),
      }),
    ),
  }),
  handler: async (_input, deps) => ({ questions: (await questionsOf(deps).list()).map(toOpenQuestion) }),
});

/** What `questions.answer` takes. */
export interface QuestionsAnswerInput {
  readonly id: string;
  readonly answers: JsonObject;
}

/** `questions.answer` */
export const questionsAnswer: Operation<QuestionsAnswerInput, Called> = defineOperation({
  name: 'questions.answer',
  summary: "Answers a server's question, as a person, and gives how its call went on.",
  description:
    'Values by field name. Titles of choices are mapped to their values, and defaults of the form are filled in. An answer that does not fit leaves the question open. The session that the question was handed back to is told the result too.',
  method: 'POST',
  path: '/questions/{id}/answer',
  input: z.strictObject({ id, answers: jsonObject.describe('Values by field name.') }),
  output: calledSchema,
  handler: ({ id: questionId, answers }, deps, { signal }) => settle(deps, questionId, { answers }, signal),
});

/** What `questions.decline` takes. */
export interface QuestionsDeclineInput {
  readonly id: string;
  /** The form is put away without a decision: the server is told `cancel` instead of `decline`. */
  readonly cancel?: boolean | undefined;
}

/** `questions.decline` */
export const questionsDecline: Operation<QuestionsDeclineInput, Called> = defineOperation({
  name: 'questions.decline',
  summary: "Declines a server's question and gives how its call went on.",
  method: 'POST',
  path: '/questions/{id}/decline',
  input: z.strictObject({
    id,
    cancel: z.boolean().optional().describe('true: put away without a decision, which the server is told.'),
  }),
  output: calledSchema,
  handler: ({ id: questionId, cancel = false }, deps, { signal }) =>
    settle(deps, questionId, cancel ? { cancel } : { decline: true }, signal),
});

const settle = async (
  deps: OperationDeps,
  questionId: string,
  given: Parameters<QuestionDesk['answer']>[1],
  signal: AbortSignal | undefined,
): Promise<Called> => {
  const { clock } = deps;
  const startedMs = clock.elapsedMs();
  const called = await questionsOf(deps).answer(questionId, given, { kind: 'person' }, signal);
  return toCalled(called.outcome, {
    toolName: `${called.server}: ${called.tool}`,
    toolCallId: questionId,
    durationMs: clock.elapsedMs() - startedMs,
  });
};

const questionsOf = ({ questions }: OperationDeps): NonNullable<OperationDeps['questions']> => {
  if (questions) return questions;
  throw new GantryError('usage', 'No bridge to MCP servers is in use here, so no server can ask anything.');
};

const toOpenQuestion = ({
  id: questionId,
  value,
  createdAtMs,
  expiresAtMs,
}: LedgerEntry<QuestionRecord>): OpenQuestion => ({
  id: questionId,
  server: value.server,
  tool: value.call.tool,
  arguments: value.call.arguments,
  message: value.form.message,
  fields: value.form.fields,
  session: value.session ?? null,
  askedAt: new Date(createdAtMs).toISOString(),
  expiresAt: expiresAtMs === undefined ? null : new Date(expiresAtMs).toISOString(),
});
