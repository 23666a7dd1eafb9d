import { abortReason } from '../../kernel/abort.ts';

/** Who calls a model. */
export interface SlotRequest {
  /** Nobody waits for the answer: it is asked for when no other call waits. Default false. */
  readonly isBackground?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** How many calls of models a process makes at once, of all tiers together. */
export interface ModelSlots {
  /**
   * Waits until a call may be made, in the sequence of asking; disposing what it gives ends the call.
   * @throws the reason, when the signal aborts.
   */
  take(request: SlotRequest): Promise<Disposable>;
}

interface Waiter {
  readonly isBackground: boolean;
  admit(): void;
}

/** Makes the slots of a process. Without a number every call is made at once. */
export const createModelSlots = (most: number | undefined): ModelSlots => {
  let taken = 0;
  const waiting: Waiter[] = [];

  const next = (): void => {
    const at = waiting.findIndex(({ isBackground }) => !isBackground);
    waiting.splice(Math.max(at, 0), 1)[0]?.admit();
  };
  const slot = (): Disposable => {
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return;
        isHeld = false;
        taken -= 1;
        next();
      },
    };
  };

  return {
    take: async ({ isBackground = false, signal }) => {
      if (signal.aborted) throw abortReason(signal);
      if (most !== undefined && taken >= most) {
        const admitted = Promise.withResolvers<void>();
        const waiter: Waiter = {
          isBackground,
          // Taken at once: whoever asks before this one goes on would else come first.
          admit: () => {
            taken += 1;
            admitted.resolve();
          },
        };
        const leave = (): void => {
          const at = waiting.indexOf(waiter);
          if (at < 0) return;
          waiting.splice(at, 1);
          admitted.reject(abortReason(signal));
        };
        waiting.push(waiter);
        signal.addEventListener('abort', leave, { once: true });
        try {
          await admitted.promise;
        } finally {
          signal.removeEventListener('abort', leave);
        }
        return slot();
      }
      taken += 1;
      return slot();
    },
  };
};
