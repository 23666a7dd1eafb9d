/** A timer that has been started and can be stopped. Stopping twice, or after it fired, does nothing. */
export interface Timer {
  stop(): void;
}

/** The only source of time: every room gets it as an argument, so tests move it by hand (`fakeClock` of `gantry/testing`). */
export interface Clock {
  /** Wall time, epoch milliseconds. */
  nowMs(): number;
  /** Monotonic milliseconds with a fraction, for durations. */
  elapsedMs(): number;
  /** Runs `fire` once after `delayMs`. Timers of a clock never keep the process alive. Any delay is allowed, also above 2^31 ms. */
  startTimer(delayMs: number, fire: () => void): Timer;
}

// setTimeout treats a delay above 2^31 - 1 as 1 ms, so longer waits are made of several.
const longestTimeoutMs = 2 ** 31 - 1;

/** The real clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  elapsedMs: () => performance.now(),
  startTimer: (delayMs, fire) => {
    let remainingMs = Math.max(0, delayMs);
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const stepMs = Math.min(remainingMs, longestTimeoutMs);
      remainingMs -= stepMs;
      handle = setTimeout(() => (remainingMs > 0 ? arm() : fire()), stepMs);
      handle.unref();
    };
    arm();
    return { stop: () => clearTimeout(handle) };
  },
};
