import { GantryError } from '../../kernel/errors.ts';

/** Calls that run, each under a key, so that they can be cancelled. */
export interface RunningCalls {
  /** Starts a call; undefined when one with that key runs already. */
  begin(key: unknown): AbortController | undefined;
  end(key: unknown): void;
  /** Cancels the call with that key; says whether there was one. */
  cancel(key: unknown): boolean;
  cancelAll(): void;
}

/** Makes an empty set of running calls. */
export const createRunningCalls = (): RunningCalls => {
  const running = new Map<unknown, AbortController>();
  return {
    begin: (key) => {
      if (running.has(key)) return undefined;
      const controller = new AbortController();
      running.set(key, controller);
      return controller;
    },
    end: (key) => void running.delete(key),
    cancel: (key) => {
      const controller = running.get(key);
      controller?.abort(cancelled());
      return controller !== undefined;
    },
    cancelAll: () => {
      for (const controller of running.values()) controller.abort(cancelled());
    },
  };
};

const cancelled = (): GantryError => new GantryError('cancelled', 'The call was cancelled by its caller.');
