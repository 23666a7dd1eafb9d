/**
 * Tasks in the words of both generations: 2025-11-25 has them in the protocol, whoever calls asks for one and fetches its result; in
 * 2026-07-28 they are an extension (SEP-2663), the server decides, and the state of a task brings its result along.
 */
import { ProtocolError, ProtocolErrorCode, RELATED_TASK_META_KEY } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../../kernel/json.ts';
import { isObject } from '../../../../kernel/json.ts';
import { suggestedPollMs } from '../../../wire/suggested-poll.ts';
import { withoutNewer } from '../generations.ts';

/** A task of 2025 in the words of 2026, under the id by which its client knows it. What it has come to is not part of it there. */
export const toNewerTask = (task: JsonObject, taskId: string): JsonObject => {
  const { ttl, pollInterval, _meta: _hop, result: _result, error: _error, ...rest } = withoutNewer(task);
  const pollMs = suggestedPollMs(pollInterval);
  return { ...rest, taskId, ttlMs: keptMs(ttl), ...(pollMs !== undefined && { pollIntervalMs: pollMs }) };
};

/** A task of 2026 in the words of 2025, without what it asks and has come to. A call whose result is an error has failed there. */
export const toOlderTask = (task: JsonObject): JsonObject => {
  const { ttlMs, pollIntervalMs, resultType: _type, inputRequests: _asked, result, error: _error, ...rest } = task;
  // The official SDK gives whatever a call is answered with a content.
  const { _meta: _hop, requestState: _state, content: _empty, ...said } = rest;
  const pollMs = suggestedPollMs(pollIntervalMs);
  const hasFailed = said['status'] === 'completed' && isObject(result) && result['isError'] === true;
  return {
    ...said,
    ...(hasFailed && { status: 'failed' }),
    ttl: keptMs(ttlMs),
    ...(pollMs !== undefined && { pollInterval: pollMs }),
  };
};

/** How long a server says it keeps a task; null, without a limit, where what it says is no time. */
const keptMs = (said: unknown): number | null =>
  typeof said === 'number' && said >= 0 && said <= Number.MAX_SAFE_INTEGER ? said : null;

/** Whether a task is in a state that it stays in, in both generations. */
export const isOver = ({ status }: JsonObject): boolean =>
  status === 'completed' || status === 'failed' || status === 'cancelled';

/** A task as a server of 2025 tells of it. */
export type TaskIn2025 = JsonObject & { readonly taskId: string };

/** The task that an answer to a call of 2025 says was made; undefined for any other answer. */
export const olderTaskIn = ({ task }: JsonObject): TaskIn2025 | undefined =>
  isObject(task) && typeof task['taskId'] === 'string' ? (task as TaskIn2025) : undefined;

/** What belongs to a task, marked as such (MCP 2025-11-25, "Associating Task-Related Messages"). */
export const relatedTo = (taskId: string, said: JsonObject): JsonObject => ({
  ...said,
  _meta: { ...(isObject(said['_meta']) && said['_meta']), [RELATED_TASK_META_KEY]: { taskId } },
});

/** How long to wait before a task is asked for again. A server that says nothing is asked every second, none more than 20 times in one. */
export const pollIntervalOf = (ms: unknown): number => Math.max(50, suggestedPollMs(ms) ?? 1_000);

/** Says of a task what servers say of one that they do not know. */
export const unknownTask = (): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidParams, 'Task not found');

/**
 * The id of the task that a request is about.
 * @throws {ProtocolError} invalid params where there is none.
 */
export const taskIdIn = ({ taskId }: JsonObject): string => {
  if (typeof taskId === 'string') return taskId;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid params: "taskId" must be a text.');
};
