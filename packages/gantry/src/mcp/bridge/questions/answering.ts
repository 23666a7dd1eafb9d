import type { Clock, Timer } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { KeyValue } from '../../../store/key-value.ts';

/** A sign that a process is still alive stays this long without being renewed. */
export const signTtlMs = 15_000;
const renewEveryMs = 5_000;

/**
 * Signs of life of answered calls: other processes on the store, and this one after a crash, tell by them whether the process that let
 * the call go on still works on it.
 */
export interface Answering {
  /** Gives the sign of a call until it is disposed. */
  begin(id: string): Promise<AsyncDisposable>;
  isAlive(id: string): Promise<boolean>;
}

/** Makes the signs over a space of the store. */
export const createAnswering = (options: {
  readonly keyValue: KeyValue<true>;
  readonly clock: Clock;
  readonly log: Log;
}): Answering => {
  const { keyValue, clock, log } = options;
  return {
    begin: async (id) => {
      await keyValue.set(id, true, { ttlMs: signTtlMs });
      let timer: Timer;
      let writing: Promise<unknown> = Promise.resolve();
      const renew = (): void => {
        writing = keyValue.set(id, true, { ttlMs: signTtlMs }).catch((error: unknown) => {
          log.warn({ question: id, reason: messageOf(error) }, 'the sign that a call runs could not be renewed');
        });
        timer = clock.startTimer(renewEveryMs, renew);
      };
      timer = clock.startTimer(renewEveryMs, renew);
      return {
        [Symbol.asyncDispose]: async () => {
          timer.stop();
          await writing;
          await keyValue.delete(id);
        },
      };
    },
    isAlive: async (id) => (await keyValue.get(id)) !== undefined,
  };
};
