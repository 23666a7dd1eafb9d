import { describe, expect, it } from 'vitest';
import { GantryError } from '../kernel/errors.ts';
import { silentLog } from '../kernel/log.ts';
import { breakingOff } from './broken-stream.ts';

const failing = (error: unknown, type = 'text/event-stream'): Response =>
  new Response(
    new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('data: 1\n\n')),
      pull: (controller) => controller.error(error),
    }),
    { headers: { 'content-type': type } },
  );

/** What a failing stream does to its connection and to the log; the client has gone before when `destroyed` says so. */
const fate = async (failure: unknown, destroyed = false): Promise<readonly string[]> => {
  const seen: string[] = [];
  const closed = Promise.withResolvers<void>();
  const log = {
    ...silentLog,
    debug: () => void seen.push('debug'),
    warn: () => void seen.push('warn'),
  };
  const outgoing = {
    destroyed,
    destroy() {
      seen.push('cut');
      closed.resolve();
      return this as never;
    },
  };
  const reader = breakingOff(failing(failure), outgoing, log).body?.getReader();
  await reader?.read();
  const rest = reader?.read();
  await closed.promise;
  await reader?.cancel();
  // It neither fails, of which the adapter would tell the console, nor ends before the connection does.
  expect(await rest).toEqual({ done: true, value: undefined });
  return seen;
};

describe('a stream of events that fails', () => {
  it.each([
    ['as is known to happen', new GantryError('cancelled', 'The client has gone.'), false, 'debug'],
    ['behind a client that has gone', new Error('aborted'), true, 'debug'],
    ['unexpectedly', new TypeError('no such thing'), false, 'warn'],
  ])('%s breaks its connection off, which is told to the log alone', async (_how, error, isGone, level) => {
    expect(await fate(error, isGone)).toEqual([level, 'cut']);
  });

  it('breaks its connection off also while the client does not read', async () => {
    const cut = Promise.withResolvers<void>();
    let events: ReadableStreamDefaultController<Uint8Array> | undefined;
    const source = new ReadableStream<Uint8Array>({ start: (controller) => void (events = controller) });
    const response = new Response(source, { headers: { 'content-type': 'text/event-stream' } });
    breakingOff(response, { destroyed: false, destroy: () => cut.resolve() as never }, silentLog);
    events?.error(new GantryError('limit_reached', 'too much waits'));
    await cut.promise;
  });

  it('is the only kind of answer that is touched', () => {
    const response = failing(new Error('x'), 'application/json');
    expect(breakingOff(response, { destroyed: false, destroy: () => undefined as never }, silentLog)).toBe(response);
  });
});
