/**
 * Tasks of clients of 2025 at a server of 2026 that has the extension. Such a client says of a call that it is to be a task, and fetches the
 * result; such a server decides itself, and asks in the state of a task.
 */
import type { Server } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { delay, startDeadline, throwIfAborted } from '../../../../kernel/abort.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../../kernel/errors.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import { isObject } from '../../../../kernel/json.ts';
import type { Log } from '../../../../kernel/log.ts';
import { tasksExtension } from '../../../wire/tasks-extension.ts';
import { fromRpc } from '../../mail/rpc-error.ts';
import { askClient } from '../ask-client.ts';
import { readInputRequests, toLegacyResult } from '../generations.ts';
import type { AskNewer } from '../relay-to-newer.ts';
import type { Relayed } from '../relayed.ts';
import { filtered } from '../relayed.ts';
import type { Silence } from '../silence.ts';
import { startSilence } from '../silence.ts';
import { hearLateTask } from './hear-late-task.ts';
import type { KeptResults } from './kept-results.ts';
import { isOver, pollIntervalOf, relatedTo, taskIdIn, toOlderTask } from './task-forms.ts';

/** The session of the client, and how its requests reach the server. */
export interface TaskClient {
  readonly server: Server;
  readonly ask: AskNewer;
}

/** Gives the results of a server of 2026 in the words of 2025, those of calls that are or become tasks too. */
export type TasksAtNewer = (relayed: Relayed, client: TaskClient) => Promise<JsonObject>;

const knowsTasks = true;
// Nobody waits for it.
const cancelMs = 10_000;

/** Makes it. */
export const createTasksAtNewer = (parts: {
  readonly kept: KeptResults;
  readonly clock: Clock;
  readonly log: Log;
}): TasksAtNewer => {
  const { kept, clock, log } = parts;

  const call = async (relayed: Relayed, client: TaskClient): Promise<JsonObject> => {
    const { task: wish, ...params } = relayed.params;
    const plain = { ...relayed, params };
    if (!isObject(wish)) return toLegacyResult(await callToItsEnd(plain, client));
    const result = await make(plain, client);
    const task = result['resultType'] === 'task' ? result : await kept.keep(relayed, result, wish['ttl']);
    return { task: toOlderTask(task) };
  };

  /** A call that may become a task, which is cancelled when its client has gone before it heard of it. */
  const make = async (relayed: Relayed, client: TaskClient): Promise<JsonObject> => {
    const { signal } = relayed.ctx.mcpReq;
    using late = hearLateTask(clock, signal);
    const made = await client.ask(relayed, { knowsTasks, signal: late.signal });
    if (signal.aborted && made['resultType'] === 'task') await cancelLater(relayed, client, taskIdIn(made));
    throwIfAborted(signal);
    return made;
  };

  /** A call of which its client wants the result; a tool that runs as a task only is followed. */
  const callToItsEnd = async (relayed: Relayed, client: TaskClient): Promise<JsonObject> => {
    try {
      return await client.ask(relayed);
    } catch (error) {
      // Nothing was carried out.
      if (!wantsTasks(error)) throw error;
    }
    const made = await make(relayed, client);
    if (made['resultType'] !== 'task') return made;
    const taskId = taskIdIn(made);
    try {
      return await follow(relayed, client, taskId, made);
    } catch (error) {
      void cancelLater(relayed, client, taskId);
      throw error;
    }
  };

  /** The state of a task, with what it has come to. */
  const stateOf = async (relayed: Relayed, { ask }: TaskClient, taskId: string): Promise<JsonObject> =>
    kept.isKept(taskId)
      ? await kept.get(relayed, taskId)
      : await ask(about(relayed, 'tasks/get', { taskId }), { knowsTasks });

  /** Waits for what a task comes to; its client answers meanwhile what it asks. */
  const follow = async (
    relayed: Relayed,
    client: TaskClient,
    taskId: string,
    known?: JsonObject,
  ): Promise<JsonObject> => {
    const { target, ctx } = relayed;
    const { name, maxCallTimeoutMs } = target;
    // The server is heard at each poll, so only the whole time is bounded.
    const bounds = { name, callTimeoutMs: maxCallTimeoutMs, maxCallTimeoutMs };
    using silence = startSilence(bounds, clock, ctx.mcpReq.signal);
    const answered = new Set<string>();
    let task = known ?? (await stateOf(relayed, client, taskId));
    for (;;) {
      if (isOver(task)) return endOf(task);
      if (task['status'] === 'input_required') await answer({ relayed, client, taskId, silence, answered }, task);
      await delay(clock, pollIntervalOf(task['pollIntervalMs']), silence.signal);
      task = await stateOf(relayed, client, taskId);
    }
  };

  const cancelLater = async (relayed: Relayed, { ask }: TaskClient, taskId: string): Promise<void> => {
    using deadline = startDeadline(clock, cancelMs);
    try {
      await ask(about(relayed, 'tasks/cancel', { taskId }), { knowsTasks, signal: deadline.signal });
    } catch (error) {
      log.debug({ server: relayed.target.name, reason: messageOf(error) }, 'a task could not be cancelled');
    }
  };

  const cancel = async (relayed: Relayed, client: TaskClient): Promise<JsonObject> => {
    const taskId = taskIdIn(relayed.params);
    const { status, ...task } = await stateOf(relayed, client, taskId);
    // MCP 2025-11-25, "Task Cancellation".
    if (isOver({ status }))
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'Cannot cancel task: it is over already; fetch its result instead.',
      );
    await client.ask(about(relayed, 'tasks/cancel', { taskId }), { knowsTasks });
    // The server may take its time, or forget the task at once; for a client of 2025 a task is cancelled when that is answered.
    return toOlderTask({ ...task, status: 'cancelled' });
  };

  return async (relayed, client) => {
    const { method, target } = relayed;
    switch (method) {
      case 'tools/call':
        return await call(relayed, client);
      case 'tasks/get':
        return toOlderTask(await stateOf(relayed, client, taskIdIn(relayed.params)));
      case 'tasks/result': {
        const taskId = taskIdIn(relayed.params);
        return relatedTo(taskId, toLegacyResult(await ended(follow(relayed, client, taskId), relayed)));
      }
      case 'tasks/cancel':
        return await cancel(relayed, client);
      case 'tools/list':
        return withTaskSupport(toLegacyResult(filtered(target, method, await client.ask(relayed))));
      default:
        return toLegacyResult(filtered(target, method, await client.ask(relayed)));
    }
  };
};

/** A further request on behalf of the one that its client made. */
const about = (relayed: Relayed, method: string, params: JsonObject): Relayed => ({ ...relayed, method, params });

/** The result of a task that is over, or the error in its place. */
const endOf = (task: JsonObject): JsonObject => {
  if (task['status'] === 'completed' && isObject(task['result'])) return task['result'];
  if (task['status'] === 'failed') throw fromRpc(task['error']);
  const why = typeof task['statusMessage'] === 'string' ? `: ${task['statusMessage']}` : '';
  throw new ProtocolError(
    ProtocolErrorCode.InternalError,
    task['status'] === 'cancelled' ? `The task was cancelled${why}` : 'The task was completed without a result.',
  );
};

/** Asks the client what a task asks; a key is answered at most once (SEP-2663). */
const answer = async (
  {
    relayed,
    client,
    taskId,
    silence,
    answered,
  }: {
    readonly relayed: Relayed;
    readonly client: TaskClient;
    readonly taskId: string;
    readonly silence: Silence;
    readonly answered: Set<string>;
  },
  { inputRequests }: JsonObject,
): Promise<void> => {
  const asked = Object.entries(readInputRequests(inputRequests)).filter(([key]) => !answered.has(key));
  if (asked.length === 0) return;
  const requests = asked.map(([key, { method, params }]) => {
    const marked = relatedTo(taskId, isObject(params) ? (params as JsonObject) : {});
    return [key, { method, params: marked }] as const;
  });
  using _held = silence.hold();
  const answers = await askClient(relayed.target, client.server, Object.fromEntries(requests), relayed.ctx);
  await client.ask(about(relayed, 'tasks/update', { taskId, ...answers }), { knowsTasks });
  for (const [key] of asked) answered.add(key);
};

/** A client that has waited for too long is told that the task goes on without it. */
const ended = async (following: Promise<JsonObject>, { target }: Relayed): Promise<JsonObject> => {
  try {
    return await following;
  } catch (error) {
    if (!GantryError.is(error) || error.code !== 'timeout') throw error;
    throw new GantryError(
      'timeout',
      `The task of server "${target.name}" has not ended within ${target.maxCallTimeoutMs} ms, the longest that is waited for it. It goes on; ask for its result again.`,
      { cause: error },
    );
  }
};

/** The server may make a task of any call, and need not. */
const withTaskSupport = (list: JsonObject): JsonObject => {
  const { tools } = list;
  if (!Array.isArray(tools)) return list;
  return {
    ...list,
    tools: tools.map((tool) => (isObject(tool) ? { ...tool, execution: { taskSupport: 'optional' } } : tool)),
  };
};

// MCP 2026-07-28, "missing required client capability"; the other is the code of earlier drafts, which SEP-2663 has still.
const missingCapability: ReadonlySet<unknown> = new Set([-32_021, -32_003]);

/** Whether a server says that it answers this only to a client that knows tasks. */
const wantsTasks = (error: unknown): boolean => {
  const rpc = GantryError.is(error) ? error.details['rpc'] : undefined;
  if (!isObject(rpc) || !missingCapability.has(rpc['code'])) return false;
  const { requiredCapabilities } = isObject(rpc['data']) ? rpc['data'] : {};
  const { extensions } = isObject(requiredCapabilities) ? requiredCapabilities : {};
  return isObject(extensions) && Object.hasOwn(extensions, tasksExtension);
};
