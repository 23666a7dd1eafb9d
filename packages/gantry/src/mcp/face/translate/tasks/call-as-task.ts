import { delay, throwIfAborted } from '../../../../kernel/abort.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../../kernel/errors.ts';
import { newId } from '../../../../kernel/ids.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import { isObject } from '../../../../kernel/json.ts';
import type { Exchange } from '../../../wire/sessions/exchange.ts';
import { startExchange } from '../../../wire/sessions/exchange.ts';
import { cancelAt, hearLateTask } from './hear-late-task.ts';
import type { TaskIn2025 } from './task-forms.ts';
import { olderTaskIn, pollIntervalOf } from './task-forms.ts';
import type { TaskWay } from './task-way.ts';
import { isAnswer, resultOf } from './task-way.ts';

type Take = (message: unknown) => void;

/** A call that runs as a task, as one request. */
export interface CallAsTask extends Exchange {
  /** Resolves when nothing is being said to the server any more about a call that was given up. */
  settled(): Promise<void>;
}

/**
 * Calls a tool that a server of 2025 runs as a task only, for a client that knows no tasks: one request, in the middle of which the server
 * asks as in any other, and whose answer is what the task comes to. The server is heard at each poll. Giving it up cancels the task.
 */
export const callAsTask = (
  way: TaskWay,
  params: JsonObject,
  options: {
    readonly clock: Clock;
    readonly mask: (text: string) => string;
    /** Whether the client wants to hear of progress. Default false. */
    readonly wantsProgress?: boolean | undefined;
    onTrouble(reason: string): void;
  },
): CallAsTask => {
  const { clock, mask, onTrouble } = options;
  const progressToken = options.wantsProgress ? newId() : undefined;
  const id = 0;
  // Undefined where it makes no task.
  const making = Promise.withResolvers<string | undefined>();
  let current: Exchange | undefined;
  let cancelling: Promise<unknown> = Promise.resolve();

  const cancel = async (): Promise<void> => {
    const taskId = await making.promise;
    if (taskId !== undefined) await cancelAt(way, taskId, clock);
  };

  /** What the server answers to the call; a client that has gone meanwhile is waited for no longer than that a task can be cancelled. */
  const make = async (take: Take, signal: AbortSignal): Promise<JsonObject> => {
    using late = hearLateTask(clock, signal);
    try {
      current = way.request('tools/call', { ...withToken(params, progressToken), task: {} });
      const made = await relayed(current, take, late.signal);
      making.resolve(olderTaskIn(made)?.taskId);
      return made;
    } finally {
      making.resolve(undefined);
    }
  };

  const poll = async (task: TaskIn2025, take: Take, signal: AbortSignal): Promise<void> => {
    for (let known: JsonObject = task; !signal.aborted;) {
      await delay(clock, pollIntervalOf(known['pollInterval']), signal);
      known = await resultOf(way.request('tasks/get', { taskId: task.taskId }), signal);
      take({ jsonrpc: '2.0', method: 'notifications/tasks/status', params: known });
    }
  };

  const endOf = async (task: string, take: Take, signal: AbortSignal): Promise<JsonObject> => {
    for (;;) {
      current = way.awaitEnd(task, progressToken);
      try {
        return await relayed(current, take, signal);
      } catch (error) {
        if (signal.aborted || isAnswer(error)) throw error;
        // Nobody keeps a connection open for ever. A server that is still there goes on with the task.
        await delay(clock, pollIntervalOf(undefined), signal);
        await resultOf(way.request('tasks/get', { taskId: task }), signal);
      }
    }
  };

  const exchange = startExchange({
    id,
    send: async (take, signal) => {
      const made = await make(take, signal);
      const task = olderTaskIn(made);
      if (!task) return take({ jsonrpc: '2.0', id, result: made });
      throwIfAborted(signal);
      const polling = new AbortController();
      // Whether the task is there at all, and what has become of it, is what its end says.
      poll(task, take, AbortSignal.any([signal, polling.signal])).catch(() => undefined);
      try {
        take({ jsonrpc: '2.0', id, result: await endOf(task.taskId, take, signal) });
      } finally {
        polling.abort();
      }
    },
    tell: async (message) => {
      const { id: about, method, ...said } = message;
      if (method === undefined) await current?.answer(about as string | number, said);
      else await (cancelling = cancel());
    },
    tellsCancelled: true,
    toError: (error) => new GantryError('server_unreachable', mask(messageOf(error)), { cause: error }),
    mask,
    onTrouble,
  });
  return {
    ...exchange,
    settled: async () => {
      // What went wrong about it was reported.
      await cancelling.catch(() => undefined);
    },
  };
};

/** Progress is told under the token of the call as long as its task runs (MCP 2025-11-25, "Task Progress Notifications"). */
const withToken = (params: JsonObject, progressToken: string | undefined): JsonObject => {
  const { _meta: meta } = params;
  return progressToken === undefined ? params : { ...params, _meta: { ...(isObject(meta) && meta), progressToken } };
};

/** The result of a request, with all that is said and asked before it handed on. */
const relayed = async (exchange: Exchange, take: Take, signal: AbortSignal): Promise<JsonObject> => {
  exchange.hear((notice) => take({ jsonrpc: '2.0', ...notice }));
  try {
    for (;;) {
      const step = await exchange.next(signal);
      if ('result' in step) return step.result;
      for (const asked of step.asked) take({ jsonrpc: '2.0', ...asked });
    }
  } finally {
    exchange.abandon();
  }
};
