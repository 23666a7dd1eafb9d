import type { Clock, Timer } from '../kernel/clock.ts';

/** A clock that stands still until it is told to move. */
export interface FakeClock extends Clock {
  /** Moves time forward, firing due timers in order; promises settled by one timer run before the next fires. */
  advance(byMs: number): Promise<void>;
  /** How many timers wait. */
  readonly pendingTimers: number;
  /** How many of them would keep a process alive. */
  readonly keepingAlive: number;
}

interface FakeTimer {
  readonly atMs: number;
  readonly order: number;
  readonly fire: () => void;
  readonly keepsAlive: boolean;
}

/** Makes a {@link FakeClock} that starts at `startMs` (default 2026-01-01T00:00:00Z). */
export const fakeClock = (startMs: number = Date.UTC(2026, 0, 1)): FakeClock => {
  let nowMs = startMs;
  let order = 0;
  const timers = new Set<FakeTimer>();
  const nextDue = (untilMs: number) => {
    let due: FakeTimer | undefined;
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
    startTimer: (delayMs, fire, options): Timer => {
      const timer = {
        atMs: nowMs + Math.max(0, delayMs),
        order: (order += 1),
        fire,
        keepsAlive: options?.keepsAlive === true,
      };
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
    get keepingAlive() {
      return Array.from(timers).filter((timer) => timer.keepsAlive).length;
    },
    get pendingTimers() {
      return timers.size;
    },
  };
};

/** Lets everything that is only waiting for promises run. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
