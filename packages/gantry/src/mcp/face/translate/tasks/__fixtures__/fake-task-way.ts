import { orAborted } from '../../../../../kernel/abort.ts';
import type { GantryError } from '../../../../../kernel/errors.ts';
import type { JsonObject } from '../../../../../kernel/json.ts';
import type { Exchange } from '../../../../wire/sessions/exchange.ts';
import { startExchange } from '../../../../wire/sessions/exchange.ts';
import type { TaskWay } from '../task-way.ts';

/** Serves a request of a task; `say` sends the client a message before the answer. */
export type ServeTask = (method: string, params: JsonObject, say: (message: JsonObject) => void) => Promise<JsonObject>;

/** A way to a server that is a function, with what it was asked and told. */
export interface FakeTaskWay extends TaskWay {
  readonly seen: readonly string[];
  readonly told: readonly JsonObject[];
  count(method: string): number;
}

/** Makes it. */
export const fakeTaskWay = (serve: ServeTask): FakeTaskWay => {
  const seen: string[] = [];
  const told: JsonObject[] = [];
  const request = (method: string, params: JsonObject): Exchange => {
    seen.push(method);
    return startExchange({
      id: 'mine',
      send: async (take, signal) => {
        const result = await orAborted(serve(method, params, take), signal);
        take({ jsonrpc: '2.0', id: 'mine', result });
      },
      tell: async (message) => void told.push(message),
      tellsCancelled: true,
      toError: (error) => error as GantryError,
      mask: (text) => text,
      onTrouble: () => {},
    });
  };
  return {
    request,
    awaitEnd: (taskId) => request('tasks/result', { taskId }),
    seen,
    told,
    count: (method) => seen.filter((one) => one === method).length,
  };
};
