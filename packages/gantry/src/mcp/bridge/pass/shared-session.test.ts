import { expect, it } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { Connection } from '../connection/open-connection.ts';
import { joinShared } from './shared-session.ts';

const server = { name: 's', maskSecrets: (text: string) => text };

/** A connection whose server takes requests and answers none. */
const connect = (more: object = {}) => {
  const clock = fakeClock();
  const cancelled: string[] = [];
  const channel = {
    send: ({ method }: { method: string }, _take: unknown, signal: AbortSignal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          cancelled.push(method);
          reject(signal.reason as Error);
        });
      }),
    listen: async () => {},
  };
  const client = { getServerCapabilities: () => ({ resources: { subscribe: true } }) };
  const connection = { channel, client, isModern: false, ...more } as unknown as Connection;
  const join = (who?: string) => joinShared(server, connection, { client: who, clock, timeoutMs: 2_000 });
  return { clock, cancelled, join };
};

it('the session that all share is one, and of servers of 2025 alone', () => {
  const { join } = connect();
  expect(join('ann')?.session).toBe(join('ben')?.session);
  expect(join('ann')?.session.capabilities).toEqual({ resources: { subscribe: true } });
  expect(connect({ isModern: true }).join()).toBeUndefined();
  expect(connect({ channel: undefined }).join()).toBeUndefined();
});

it('is used by one client two hundred times at most, and a thousand times in all', () => {
  const { join } = connect();
  const held = Array.from({ length: 200 }, () => join('ann'));
  expect(() => join('ann')).toThrow('200 listen to server "s" for one client at most');
  for (let count = 0; count < 800; count += 1) join(`${count % 8}`);
  expect(() => join('ben')).toThrow('1000 in all');
  held[0]?.[Symbol.dispose]();
  held[0]?.[Symbol.dispose]();
  join('ben');
  expect(() => join('ben')).toThrow();
});

it('does not wait longer for an answer than for that of a call', async () => {
  const { clock, cancelled, join } = connect();
  const asked = join()?.session.request('resources/subscribe', { uri: 'docs://a' });
  const outcome = expect(asked?.next(new AbortController().signal)).rejects.toMatchObject({ code: 'timeout' });
  await clock.advance(2_000);
  await outcome;
  expect(cancelled).toEqual(['resources/subscribe']);
});
