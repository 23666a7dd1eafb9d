import type { Clock, Timer } from '../../kernel/clock.ts';

/** Turns a burst of changes into one notice. */
export interface ChangeNotice extends Disposable {
  /** Something changed. */
  changed(): void;
}

/** Makes a notice that fires once, `delayMs` after the first of a burst of changes. */
export const createChangeNotice = (clock: Clock, delayMs: number, fire: () => void): ChangeNotice => {
  let timer: Timer | undefined;
  return {
    changed: () => {
      timer ??= clock.startTimer(delayMs, () => {
        timer = undefined;
        fire();
      });
    },
    [Symbol.dispose]: () => timer?.stop(),
  };
};
