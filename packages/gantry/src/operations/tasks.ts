import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { TaskRecord } from '../mcp/bridge/tasks/task-record.ts';
import type { LedgerEntry } from '../store/ledger.ts';
import { jsonObject } from './json-shapes.ts';
import type { NoInput, Operation } from './operation.ts';
import { defineOperation } from './operation.ts';
import type { OperationDeps } from './operation-deps.ts';

/** A call that goes on in the background. */
export interface BackgroundTask {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  /** Of the call, with secrets masked. */
  readonly arguments: JsonObject;
  readonly session: string;
  /** What its server said of it last; null when it said nothing. */
  readonly statusMessage: string | null;
  /** ISO times. */
  readonly startedAt: string;
  readonly givenUpAt: string;
}

/** `tasks.list` */
export const tasksList: Operation<NoInput, { readonly tasks: readonly BackgroundTask[] }> = defineOperation({
  name: 'tasks.list',
  summary: 'Lists the calls that go on in the background, oldest first.',
  method: 'GET',
  path: '/tasks',
  input: z.strictObject({}),
  output: z.strictObject({
    tasks: z.array(
      z.strictObject({
        id: z.string(),
        server: z.string(),
        tool: z.string(),
        arguments: jsonObject.describe('Of the call, with secrets masked.'),
        session: z.string(),
        statusMessage: z.string().nullable().describe('What its server said of it last.'),
        startedAt: z.string(),
        givenUpAt: z.string(),
      }),
    ),
  }),
  handler: async (_input, deps) => ({ tasks: (await tasksOf(deps).list()).map(toBackgroundTask) }),
});

/** `tasks.cancel` */
export const tasksCancel: Operation<{ readonly id: string }, { readonly message: string }> = defineOperation({
  name: 'tasks.cancel',
  summary: 'Cancels a background task; its session gets no result.',
  method: 'POST',
  path: '/tasks/{id}/cancel',
  input: z.strictObject({ id: z.string().min(1).describe('Id of the task: "t_" and 32 hex digits.') }),
  output: z.strictObject({ message: z.string() }),
  handler: async ({ id }, deps) => ({ message: await tasksOf(deps).cancel(id, { kind: 'person' }) }),
});

const tasksOf = ({ tasks }: OperationDeps): NonNullable<OperationDeps['tasks']> => {
  if (tasks) return tasks;
  throw new GantryError('usage', 'No bridge to MCP servers is in use here, so there are no background tasks.');
};

const toBackgroundTask = ({ id, value }: LedgerEntry<TaskRecord>): BackgroundTask => ({
  id,
  server: value.server,
  tool: value.tool,
  arguments: value.arguments,
  session: value.session,
  statusMessage: value.statusMessage ?? null,
  startedAt: new Date(value.startedAtMs).toISOString(),
  givenUpAt: new Date(value.deadlineAtMs).toISOString(),
});
