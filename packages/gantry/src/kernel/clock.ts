/** A timer that has been started and can be stopped. Stopping twice, or after it fired, does nothing. */
export interface Timer {
  stop(): void;
}

/** How a timer is kept. */
export interface TimerOptions {
  /** The process does not end before the timer fired or was stopped. For what somebody waits for; background work has no claim to it. */
  readonly keepsAlive?: boolean | undefined;
}

/** The only source of time: every room gets it as an argument, so tests move it by hand (`fakeClock` of `gantry/testing`). */
export interface Clock {
  /** Wall time, epoch milliseconds. */
  nowMs(): number;
  /** Monotonic milliseconds with a fraction, for durations. */
  elapsedMs(): number;
  /** Runs `fire` once after `delayMs`. The process may end before, unless the options say otherwise. Any delay is allowed, also above 2^31 ms. */
  startTimer(delayMs: number, fire: () => void, options?: TimerOptions): Timer;
}

// setTimeout treats a delay above 2^31 - 1 as 1 ms, so longer waits are made of several.
const longestTimeoutMs = 2 ** 31 - 1;

/** The real clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  elapsedMs: () => performance.now(),
  startTimer: (delayMs, fire, options) => {
    let remainingMs = Math.max(0, delayMs);
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const stepMs = Math.min(remainingMs, longestTimeoutMs);
      remainingMs -= stepMs;
      handle = setTimeout(() => (remainingMs > 0 ? arm() : fire()), stepMs);
      if (options?.keepsAlive !== true) handle.unref();
    };
    arm();
    return { stop: () => clearTimeout(handle) };
  },
};
