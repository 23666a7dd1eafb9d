import type { Clock, Timer } from '../kernel/clock.ts';

/** A clock that stands still until it is told to move. */
export interface FakeClock extends Clock {
  /** Moves time forward, firing due timers in order; promises settled by one timer run before the next fires. */
  advance(byMs: number): Promise<void>;
  /** How many timers wait. */
  readonly pendingTimers: number;
}

/** Makes a {@link FakeClock} that starts at `startMs` (default 2026-01-01T00:00:00Z). */
export const fakeClock = (startMs: number = Date.UTC(2026, 0, 1)): FakeClock => {
  let nowMs = startMs;
  let order = 0;
  const timers = new Set<{ atMs: number; order: number; fire: () => void }>();
  const nextDue = (untilMs: number) => {
    let due: { atMs: number; order: number; fire: () => void } | undefined;
    for (const timer of timers)
      if (
        timer.atMs <= untilMs &&
        (!due || timer.atMs < due.atMs || (timer.atMs === due.atMs && timer.order < due.order))
      )
        due = timer;
    return due;
  };
  return {
    nowMs: () => nowMs,
    elapsedMs: () => nowMs - startMs,
    startTimer: (delayMs, fire): Timer => {
      const timer = { atMs: nowMs + Math.max(0, delayMs), order: (order += 1), fire };
      timers.add(timer);
      return { stop: () => void timers.delete(timer) };
    },
    advance: async (byMs) => {
      const untilMs = nowMs + byMs;
      await settle();
      for (let due = nextDue(untilMs); due; due = nextDue(untilMs)) {
        timers.delete(due);
        nowMs = Math.max(nowMs, due.atMs);
        due.fire();
        await settle();
      }
      nowMs = untilMs;
    },
    get pendingTimers() {
      return timers.size;
    },
  };
};

/** Lets everything that is only waiting for promises run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
