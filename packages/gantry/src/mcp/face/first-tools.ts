import type { Clock } from '../../kernel/clock.ts';

/** The tools of servers that are being connected for the first time. */
export interface FirstTools extends Disposable {
  /** For lists: resolves when they are there or have had their time; undefined after that. */
  readonly pending: Promise<void> | undefined;
  /** The same for calls of names that nobody knows yet. Whoever calls knows what for, and would be told that there is no such tool. */
  readonly pendingForCalls: Promise<void> | undefined;
}

/** How long to wait for them, from the making of the face on. */
export interface FirstToolsPatience {
  readonly listMs: number;
  readonly callMs: number;
}

/**
 * Waits for the tools, from now on and for so long at most: a client that lists at once would see no tools of healthy
 * servers, and many list once only, but a server that hangs may not hold them up. Without `firstReady` there is nothing to wait for.
 */
export const awaitFirstTools = (
  clock: Clock,
  firstReady: (() => Promise<void>) | undefined,
  { listMs, callMs }: FirstToolsPatience,
): FirstTools => {
  // Why a server could not be connected is in its status.
  const ready = firstReady?.().catch(() => undefined);
  const forLists = startWait(clock, ready, listMs);
  const forCalls = startWait(clock, ready, callMs);
  return {
    get pending() {
      return forLists.pending;
    },
    get pendingForCalls() {
      return forCalls.pending;
    },
    [Symbol.dispose]: () => {
      forLists.end();
      forCalls.end();
    },
  };
};

/** Waits for them before a call of a tool that nobody knows yet; at every surface that takes calls. */
export const untilCallable = async (
  firstTools: Pick<FirstTools, 'pendingForCalls'> | undefined,
  isKnown: () => boolean,
): Promise<void> => {
  const pending = firstTools?.pendingForCalls;
  if (pending && !isKnown()) await pending;
};

interface Wait {
  pending: Promise<void> | undefined;
  end(): void;
}

const startWait = (clock: Clock, ready: Promise<void> | undefined, patienceMs: number): Wait => {
  const over = Promise.withResolvers<void>();
  const wait: Wait = {
    pending: ready && over.promise,
    end: () => {
      timer?.stop();
      wait.pending = undefined;
      over.resolve();
    },
  };
  const timer = ready && clock.startTimer(patienceMs, wait.end);
  void ready?.then(wait.end);
  return wait;
};
