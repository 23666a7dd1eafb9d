import type { CallBudget } from './call-budget.ts';
import type { OpenCall } from '../elicitation/open-call.ts';

/**
 * The calls that run now, by server. A server of the older protocol asks over its session and does not say for which call, so its
 * question belongs to every call that is open on it.
 */
export interface OpenCalls {
  /** Adds a call until it is disposed. */
  enter(serverName: string, call: EnteredCall): Disposable;
  of(serverName: string): readonly EnteredCall[];
}

/** A call that runs now, and its time. */
export interface EnteredCall {
  readonly open: OpenCall;
  readonly budget: Pick<CallBudget, 'pause'>;
}

/** Makes an empty register. */
export const createOpenCalls = (): OpenCalls => {
  const byServer = new Map<string, Set<EnteredCall>>();
  return {
    enter: (serverName, call) => {
      const key = serverName.toLowerCase();
      const calls = byServer.get(key) ?? new Set();
      byServer.set(key, calls.add(call));
      return {
        [Symbol.dispose]: () => {
          calls.delete(call);
          if (calls.size === 0 && byServer.get(key) === calls) byServer.delete(key);
        },
      };
    },
    of: (serverName) => [...(byServer.get(serverName.toLowerCase()) ?? [])],
  };
};
