import { GantryError } from '../../kernel/errors.ts';
import type { LongCalls } from './sessions/long-calls.ts';

/** Calls that run, each under a key, so that they can be cancelled. */
export interface RunningCalls {
  /** Starts a call; undefined when one with that key runs already. */
  begin(key: unknown): AbortController | undefined;
  end(key: unknown): void;
  has(key: unknown): boolean;
  /** Cancels the call with that key; says whether there was one. */
  cancel(key: unknown): boolean;
  cancelAll(): void;
}

interface RunningCall {
  readonly controller: AbortController;
  readonly counted: Disposable | undefined;
}

/** Makes an empty set of running calls; those that run for long are counted where that is wanted. */
export const createRunningCalls = (longCalls?: LongCalls): RunningCalls => {
  const running = new Map<unknown, RunningCall>();
  return {
    begin: (key) => {
      if (running.has(key)) return undefined;
      const controller = new AbortController();
      running.set(key, { controller, counted: longCalls?.began() });
      return controller;
    },
    end: (key) => {
      running.get(key)?.counted?.[Symbol.dispose]();
      running.delete(key);
    },
    has: (key) => running.has(key),
    cancel: (key) => {
      const call = running.get(key);
      call?.controller.abort(cancelled());
      return call !== undefined;
    },
    cancelAll: () => {
      for (const { controller } of running.values()) controller.abort(cancelled());
    },
  };
};

const cancelled = (): GantryError => new GantryError('cancelled', 'The call was cancelled by its caller.');
