import type { Clock, Timer } from '../../../kernel/clock.ts';

/** Notices when nobody has used something for a while. Disposing stops it. */
export interface IdleStop extends Disposable {
  /** Somebody uses it, until the returned release is called. */
  use(): () => void;
  /** Starts the wait anew, unless somebody uses it. */
  restart(): void;
  isUsed(): boolean;
}

/** Calls `onIdle` when there has been no use for `idleMs`; 0 means never. */
export const createIdleStop = (clock: Clock, idleMs: number, onIdle: () => void): IdleStop => {
  let users = 0;
  let timer: Timer | undefined;

  const stop = (): void => {
    timer?.stop();
    timer = undefined;
  };
  const restart = (): void => {
    stop();
    if (users === 0 && idleMs > 0) timer = clock.startTimer(idleMs, onIdle);
  };

  return {
    use: () => {
      users += 1;
      stop();
      let isInUse = true;
      return () => {
        if (!isInUse) return;
        isInUse = false;
        users -= 1;
        restart();
      };
    },
    restart,
    isUsed: () => users > 0,
    [Symbol.dispose]: stop,
  };
};
