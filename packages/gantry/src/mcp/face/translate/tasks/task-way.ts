import { GantryError, messageOf } from '../../../../kernel/errors.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import { isObject } from '../../../../kernel/json.ts';
import type { PassTarget } from '../../../wire/pass-port.ts';
import type { Exchange, Notice } from '../../../wire/sessions/exchange.ts';
import { startExchange } from '../../../wire/sessions/exchange.ts';
import type { OlderSession } from '../../../wire/sessions/older-session.ts';

/** How requests about a task reach the server of 2025 that runs it: servers know a task in the session alone in which it was made. */
export interface TaskWay {
  /** Sends a request. */
  request(method: string, params: JsonObject): Exchange;
  /**
   * Waits for what the task comes to; the server asks its questions on this request, and tells its progress under the token that the call had.
   */
  awaitEnd(taskId: string, progressToken?: string): Exchange;
  /** Hears what the server says of itself; undefined where others share the session. */
  readonly listen?: ((listener: (notice: Notice) => void, signal: AbortSignal) => void) | undefined;
}

/** Over a session of the client's own. */
export const overSession = (session: OlderSession): TaskWay => ({
  request: (method, params) => session.request(method, params, { isAside: method.startsWith('tasks/') }),
  awaitEnd: (taskId, progressToken) => session.request('tasks/result', { taskId }, { isTimed: false, progressToken }),
  listen: (listener, signal) => void session.listen(listener, signal),
});

/** Over the bridge's own connection, where questions are answered by policy. */
export const overLink = ({ link, mask }: Pick<PassTarget, 'link' | 'mask'>): TaskWay => {
  const exchange = (ask: (signal: AbortSignal) => Promise<unknown>): Exchange =>
    startExchange({
      id: 0,
      send: async (take, signal) => take({ jsonrpc: '2.0', id: 0, result: await ask(signal) }),
      // Nothing is asked on it, and giving it up says so.
      tell: async () => {},
      tellsCancelled: false,
      toError: (error) => new GantryError('server_unreachable', mask(messageOf(error)), { cause: error }),
      mask,
      onTrouble: () => {},
    });
  return {
    request: (method, params) => exchange((signal) => link.request(method, params, { signal })),
    awaitEnd: (taskId) => exchange((signal) => link.request('tasks/result', { taskId }, { signal })),
  };
};

/** Whether what was thrown is an error of the server's own. */
export const isAnswer = (error: unknown): error is GantryError =>
  GantryError.is(error) && isObject(error.details['rpc']);

/** The result of a request in the middle of which nothing is asked. */
export const resultOf = async (exchange: Exchange, signal: AbortSignal): Promise<JsonObject> => {
  try {
    for (;;) {
      const step = await exchange.next(signal);
      if ('result' in step) return step.result;
      for (const { id, method } of step.asked)
        await exchange.answer(id, {
          error: { code: -32_601, message: `The client cannot be asked for ${method.slice(0, 60)} here.` },
        });
    }
  } finally {
    exchange.abandon();
  }
};
