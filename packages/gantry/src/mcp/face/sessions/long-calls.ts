import type { Clock, Timer } from '../../../kernel/clock.ts';

/** Tells when calls run for so long that it is worth finding out what their clients say at other processes. */
export interface LongCalls extends Disposable {
  /** A call begins; dispose what this gives when it has ended. */
  began(): Disposable;
}

const longMs = 250;

/** Makes it: `look` is called when a call has run for 250 to 500 ms, and what it gives is disposed when none does any more. */
export const createLongCalls = (clock: Clock, look: () => Disposable): LongCalls => {
  /** Calls that began since the timer fired last, and those that ran already then. */
  let young = 0;
  let old = 0;
  let round = 0;
  let timer: Timer | undefined;
  let looking: Disposable | undefined;
  const start = (): void => {
    timer = clock.startTimer(longMs, () => {
      round += 1;
      old += young;
      young = 0;
      timer = undefined;
      if (old > 0) {
        looking ??= look();
        start();
      }
    });
  };
  const rest = (): void => {
    looking?.[Symbol.dispose]();
    looking = undefined;
  };
  return {
    began: () => {
      const since = round;
      let isOver = false;
      young += 1;
      if (!timer) start();
      return {
        [Symbol.dispose]: () => {
          if (isOver) return;
          isOver = true;
          if (since === round) young -= 1;
          else old -= 1;
          if (old === 0) rest();
        },
      };
    },
    [Symbol.dispose]: () => {
      timer?.stop();
      rest();
    },
  };
};
