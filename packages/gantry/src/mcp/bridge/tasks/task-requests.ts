import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { suggestedPollMs } from '../../wire/suggested-poll.ts';
import { capabilitiesKey } from '../call/send-call.ts';
import { noSdkTimeoutMs } from '../connection/sdk.ts';
import { rawResult } from '../connection/watch-transport.ts';
import type { InputRequest } from '../result/unfinished.ts';
import { readInputRequired } from '../result/unfinished.ts';
import type { Snapshot } from '../server/managed-server.ts';
import { taskCapabilities } from './can-run-task.ts';

/** What a server says of a task. */
export type TaskState = {
  /** Milliseconds, as the server suggests. */
  readonly pollIntervalMs: number | undefined;
  readonly statusMessage: string | undefined;
} & (
  | { readonly status: 'working' | 'cancelled' | 'unknown' }
  | { readonly status: 'input_required'; readonly requests: Readonly<Record<string, InputRequest>> }
  | { readonly status: 'completed'; readonly result: unknown }
  | { readonly status: 'failed'; readonly code: number | undefined; readonly message: string }
);

/** Asks for a task. Throws what the connection throws. */
export const getTask = async (snapshot: Snapshot, taskId: string, signal: AbortSignal): Promise<TaskState> =>
  toTaskState(await request(snapshot, 'tasks/get', { taskId }, signal));

/** Sends answers to questions of a task. */
export const updateTask = async (
  snapshot: Snapshot,
  taskId: string,
  inputResponses: JsonObject,
  signal: AbortSignal,
): Promise<void> => {
  await request(snapshot, 'tasks/update', { taskId, inputResponses }, signal);
};

/** Says that the task is not wanted any more. */
export const cancelTask = async (snapshot: Snapshot, taskId: string, signal: AbortSignal): Promise<void> => {
  await request(snapshot, 'tasks/cancel', { taskId }, signal);
};

/** Reads a task as `tasks/get` and the answer that creates one give it; what cannot be read is `unknown`. */
export const toTaskState = (raw: unknown): TaskState => {
  const task = isObject(raw) ? raw : {};
  const { status, pollIntervalMs, statusMessage } = task;
  const common = {
    pollIntervalMs: suggestedPollMs(pollIntervalMs),
    statusMessage: typeof statusMessage === 'string' ? statusMessage : undefined,
  };
  switch (status) {
    case 'working':
    case 'cancelled':
      return { ...common, status };
    case 'input_required':
      return { ...common, status, requests: readInputRequired(task).requests };
    case 'completed':
      return { ...common, status, result: task['result'] };
    case 'failed': {
      const error = isObject(task['error']) ? task['error'] : {};
      const { code, message } = error;
      return {
        ...common,
        status,
        code: typeof code === 'number' ? code : undefined,
        message: typeof message === 'string' ? message : (common.statusMessage ?? 'no reason given'),
      };
    }
    default:
      return { ...common, status: 'unknown' };
  }
};

const request = async (
  { connection }: Snapshot,
  method: 'tasks/get' | 'tasks/update' | 'tasks/cancel',
  params: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<unknown> =>
  await connection.client.request(
    { method, params: { ...params, _meta: { [capabilitiesKey]: taskCapabilities(true) } } },
    rawResult,
    { signal, timeout: noSdkTimeoutMs },
  );
