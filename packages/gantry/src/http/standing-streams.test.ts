import { expect, it } from 'vitest';
import { fakeClock } from '../testing/fake-clock.ts';
import { createStandingStreams } from './standing-streams.ts';

const setUp = () => {
  const clock = fakeClock();
  const streams = createStandingStreams(clock);
  const state = { isGood: async () => true, asked: 0, cancelled: 0 };
  const open = (token = 't') => {
    let events: ReadableStreamDefaultController<Uint8Array> | undefined;
    const source = new ReadableStream<Uint8Array>({
      start: (controller) => void (events = controller),
      cancel: () => void (state.cancelled += 1),
    });
    const given = new Response(source, { headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-a': '1' } });
    const held = streams.hold(given, token, () => {
      state.asked += 1;
      return state.isGood();
    });
    return { held, events };
  };
  return { clock, streams, state, open };
};

it('breaks a stream off within five seconds after its token was revoked, and what makes it too', async () => {
  const { clock, state, open } = setUp();
  const { held, events } = open();
  const read = held.text();
  events?.enqueue(new TextEncoder().encode('data: 1\n\n'));
  await clock.advance(5_000);
  state.isGood = async () => false;
  const broken = expect(read).rejects.toThrow('good no longer');
  await clock.advance(5_000);
  await broken;
  expect([state.cancelled, clock.pendingTimers]).toEqual([1, 0]);
});

it('asks once for all streams of a token, and nobody when none stands any more', async () => {
  const { clock, state, open } = setUp();
  const [a, b] = [open(), open()];
  const texts = Promise.all([a.held.text(), b.held.text()]);
  await clock.advance(5_000);
  expect(state.asked).toBe(1);
  a.events?.close();
  b.events?.close();
  expect(await texts).toEqual(['', '']);
  expect(clock.pendingTimers).toBe(0);
});

it('lets streams stand while nobody can say whether their token is good', async () => {
  const { clock, state, open } = setUp();
  const { held, events } = open();
  state.isGood = () => Promise.reject(new Error('no keys'));
  await clock.advance(20_000);
  events?.close();
  expect([held.headers.get('x-a'), await held.text()]).toEqual(['1', '']);
});

it('stops when its client goes', async () => {
  const { clock, state, open } = setUp();
  await open().held.body?.cancel();
  expect([state.cancelled, clock.pendingTimers]).toEqual([1, 0]);
});

it('breaks off with what it passes on, also while its client does not read', async () => {
  const { clock, open } = setUp();
  const { held, events } = open();
  const reader = held.body?.getReader();
  events?.error(new Error('too much waits'));
  await expect(reader?.closed).rejects.toThrow('too much waits');
  expect(clock.pendingTimers).toBe(0);
});

it('gives back what is no stream of events as it is', () => {
  const { clock, streams } = setUp();
  const response = Response.json({});
  expect(streams.hold(response, 't', async () => false)).toBe(response);
  expect(clock.pendingTimers).toBe(0);
});
