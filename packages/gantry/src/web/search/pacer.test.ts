import { describe, expect, it } from 'vitest';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { PacerOptions } from './pacer.ts';
import { createPacer } from './pacer.ts';

const setUp = (options: Partial<PacerOptions> = {}) => {
  const clock = fakeClock();
  const startedMs: number[] = [];
  const outcomes: string[] = [];
  const pacer = createPacer({
    clock,
    minIntervalMs: 150,
    maxRetries: 3,
    baseDelayMs: 1000,
    maxDelayMs: 8000,
    onRateLimited: (outcome) => void outcomes.push(outcome),
    ...options,
  });
  const answering =
    (...answers: Response[]) =>
    async (): Promise<Response> => {
      startedMs.push(clock.elapsedMs());
      return answers.length > 1 ? (answers.shift() as Response) : (answers[0] as Response);
    };
  return { clock, pacer, startedMs, outcomes, answering };
};
const busy = (retryAfter?: string, status = 429): Response =>
  new Response('', { status, headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter } });
const ok = (): Response => new Response('ok');

describe('createPacer', () => {
  it('spaces the starts of concurrent requests', async () => {
    const { clock, pacer, startedMs, answering } = setUp();
    const all = Promise.all([1, 2, 3].map(() => pacer.send(answering(ok()))));
    await clock.advance(1000);
    await all;
    expect(startedMs).toEqual([0, 150, 300]);
  });

  it('never overlaps requests, also without spacing', async () => {
    const { clock, pacer } = setUp({ minIntervalMs: 0 });
    let running = 0;
    let most = 0;
    const request = async (): Promise<Response> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise<void>((resolve) => void clock.startTimer(10, resolve));
      running -= 1;
      return ok();
    };
    const all = Promise.all([1, 2, 3].map(() => pacer.send(request)));
    await clock.advance(100);
    await all;
    expect(most).toBe(1);
  });

  it.each([
    ['the base delay', [busy(), ok()], [0, 1000]],
    ['double the delay each time', [busy(), busy(), busy(), ok()], [0, 1000, 3000, 7000]],
    ['what the server asks for', [busy('2'), ok()], [0, 2000]],
    ['no longer than the most', [busy('120'), ok()], [0, 8000]],
    ['until a date', [busy(new Date(Date.UTC(2026, 0, 1, 0, 0, 3)).toUTCString()), ok()], [0, 3000]],
    ['not at all for a date that has passed', [busy('Wed, 01 Jan 2020 00:00:00 GMT'), ok()], [0, 150]],
    ['after HTTP 503 too', [busy(undefined, 503), ok()], [0, 1000]],
  ])('waits %s before the next try', async (_what, answers, starts) => {
    const { clock, pacer, startedMs, answering } = setUp();
    const sent = pacer.send(answering(...answers));
    await clock.advance(60_000);
    expect((await sent).status).toBe(200);
    expect(startedMs).toEqual(starts);
  });

  it('does not repeat other failures', async () => {
    const { pacer, startedMs, answering } = setUp();
    expect((await pacer.send(answering(new Response('', { status: 500 })))).status).toBe(500);
    expect(startedMs).toHaveLength(1);
  });

  it('gives up after the last try and counts what happened', async () => {
    const { clock, pacer, startedMs, outcomes, answering } = setUp();
    const sent = pacer.send(answering(busy()));
    await clock.advance(60_000);
    expect((await sent).status).toBe(429);
    expect(startedMs).toHaveLength(4);
    expect(outcomes).toEqual(['retried', 'retried', 'retried', 'exhausted']);
  });

  it('fails on the first busy answer without retries, and holds back the next request', async () => {
    const { clock, pacer, startedMs, answering } = setUp({ maxRetries: 0 });
    expect((await pacer.send(answering(busy()))).status).toBe(429);
    const next = pacer.send(answering(ok()));
    await clock.advance(5000);
    await next;
    expect(startedMs).toEqual([0, 1000]);
  });

  it('sends nothing for who gives up while waiting, and goes on with the next', async () => {
    const { clock, pacer, startedMs, answering } = setUp();
    const controller = new AbortController();
    const first = pacer.send(answering(ok()));
    const second = pacer.send(answering(ok()), controller.signal);
    const third = pacer.send(answering(ok()));
    controller.abort();
    await expect(second).rejects.toMatchObject({ code: 'cancelled' });
    await clock.advance(1000);
    await Promise.all([first, third]);
    expect(startedMs).toEqual([0, 150]);
  });

  it('ends a wait at once when it is cancelled', async () => {
    const { clock, pacer, answering } = setUp();
    const controller = new AbortController();
    const sent = pacer.send(answering(busy('5')), controller.signal);
    await clock.advance(10);
    controller.abort();
    await expect(sent).rejects.toMatchObject({ code: 'cancelled' });
    expect(clock.pendingTimers).toBe(0);
  });
});
