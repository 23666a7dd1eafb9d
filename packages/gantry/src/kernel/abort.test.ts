import { describe, expect, it } from 'vitest';
import { fakeClock } from '../testing/fake-clock.ts';
import { abortReason, delay, orAborted, startDeadline, startGrace, throwIfAborted } from './abort.ts';
import { GantryError } from './errors.ts';

const own = new GantryError('stopped', 'Stopping.');
const never = (): Promise<never> => new Promise(() => {});

describe('abortReason', () => {
  it('is the reason itself when that is one of ours, else a cancellation that keeps it as its cause', () => {
    expect(abortReason(AbortSignal.abort(own))).toBe(own);
    expect(abortReason(AbortSignal.abort('why'))).toMatchObject({ code: 'cancelled', cause: 'why' });
  });
});

describe('throwIfAborted', () => {
  it('throws only for a signal that has been aborted', () => {
    throwIfAborted(undefined);
    throwIfAborted(new AbortController().signal);
    expect(() => throwIfAborted(AbortSignal.abort(own))).toThrow(own);
  });
});

describe('delay', () => {
  it('resolves when the time is over', async () => {
    const clock = fakeClock();
    let over = false;
    const waiting = delay(clock, 100).then(() => (over = true));
    await clock.advance(99);
    expect(over).toBe(false);
    await clock.advance(1);
    await waiting;
  });

  it('rejects as soon as the signal aborts, and leaves no timer', async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const waiting = delay(clock, 100, controller.signal);
    controller.abort(own);
    await expect(waiting).rejects.toBe(own);
    await expect(delay(clock, 100, controller.signal)).rejects.toBe(own);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('orAborted', () => {
  it('settles like the promise when that is first', async () => {
    const { signal } = new AbortController();
    await expect(orAborted(Promise.resolve(1), signal)).resolves.toBe(1);
    await expect(orAborted(Promise.reject(own), signal)).rejects.toBe(own);
  });

  it('rejects when the signal aborts, before or after the start', async () => {
    const controller = new AbortController();
    const waiting = orAborted(never(), controller.signal);
    controller.abort(own);
    await expect(waiting).rejects.toBe(own);
    await expect(orAborted(Promise.reject(new Error('late')), controller.signal)).rejects.toBe(own);
  });
});

describe('startDeadline', () => {
  it('aborts with a time-out when the time is over', async () => {
    const clock = fakeClock();
    using deadline = startDeadline(clock, 100);
    await clock.advance(99);
    expect([deadline.signal.aborted, deadline.expired()]).toEqual([false, false]);
    await clock.advance(1);
    expect(deadline.signal.reason).toMatchObject({ code: 'timeout', retry: 'later', details: { timeoutMs: 100 } });
    expect(deadline.expired()).toBe(true);
  });

  it('aborts with the error that is asked for', async () => {
    const clock = fakeClock();
    using deadline = startDeadline(clock, 1, { onExpiry: () => own });
    await clock.advance(1);
    expect(deadline.signal.reason).toBe(own);
  });

  it('keeps the process alive until it is disposed, when somebody waits', () => {
    const clock = fakeClock();
    using _background = startDeadline(clock, 100);
    const awaited = startDeadline(clock, 100, { keepsAlive: true });
    expect(clock.keepingAlive).toBe(1);
    awaited[Symbol.dispose]();
    expect(clock.keepingAlive).toBe(0);
  });

  it('passes on the abort of the caller, which is not an expiry', () => {
    const controller = new AbortController();
    using before = startDeadline(fakeClock(), 100, { signal: controller.signal });
    controller.abort(own);
    using after = startDeadline(fakeClock(), 100, { signal: controller.signal });
    for (const deadline of [before, after]) {
      expect(deadline.signal.reason).toBe(own);
      expect(deadline.expired()).toBe(false);
    }
  });

  it('does nothing any more once it is disposed', async () => {
    const clock = fakeClock();
    const controller = new AbortController();
    const deadline = startDeadline(clock, 100, { signal: controller.signal });
    deadline[Symbol.dispose]();
    controller.abort();
    await clock.advance(100);
    expect(deadline.signal.aborted).toBe(false);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('startGrace', () => {
  it.each(['before', 'after'])(
    'aborts so long after the signal that aborts %s it began, for the same reason',
    async (when) => {
      const clock = fakeClock();
      const outer = new AbortController();
      if (when === 'before') outer.abort(own);
      using grace = startGrace(clock, 100, outer.signal);
      outer.abort(own);
      await clock.advance(99);
      expect(grace.signal.aborted).toBe(false);
      await clock.advance(1);
      expect(grace.signal.reason).toBe(own);
    },
  );

  it('never does once it is disposed', async () => {
    const clock = fakeClock();
    const outer = new AbortController();
    const grace = startGrace(clock, 100, outer.signal);
    outer.abort(own);
    grace[Symbol.dispose]();
    await clock.advance(100);
    expect([grace.signal.aborted, clock.pendingTimers]).toEqual([false, 0]);
  });
});
