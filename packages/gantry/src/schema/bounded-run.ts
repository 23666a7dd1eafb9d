import { type Context, createContext, Script } from 'node:vm';

/** Runs a synchronous function and gives its result, or `undefined` when it has not come back within `timeoutMs`. */
export type BoundedRun = <T extends object | boolean>(work: () => T, timeoutMs: number) => T | undefined;

/**
 * Makes a {@link BoundedRun}: the engine stops the work, also in the middle of a regular expression. A run costs about 0.2 ms, so it is
 * for work that may be hostile. Work that was stopped may leave what it was changing half done.
 */
export const createBoundedRun = (): BoundedRun => {
  let prepared: { context: Context; script: Script; slot: { work?: (() => unknown) | undefined } } | undefined;
  return <T extends object | boolean>(work: () => T, timeoutMs: number): T | undefined => {
    if (!prepared) {
      const slot: { work?: (() => unknown) | undefined } = {};
      prepared = { slot, context: createContext(slot), script: new Script('work()') };
    }
    prepared.slot.work = work;
    try {
      return prepared.script.runInContext(prepared.context, { timeout: timeoutMs }) as T;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
      throw error;
    } finally {
      prepared.slot.work = undefined;
    }
  };
};
