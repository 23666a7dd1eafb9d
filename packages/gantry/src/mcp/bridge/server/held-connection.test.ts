import { expect, it } from 'vitest';
import { silentLog } from '../../../kernel/log.ts';
import type { Connection } from '../connection/open-connection.ts';
import { holdConnection } from './held-connection.ts';

const fakeConnection = (): Connection & { ended: number } => {
  const connection = {
    ended: 0,
    [Symbol.asyncDispose]: async () => {
      connection.ended += 1;
    },
  };
  return connection as unknown as Connection & { ended: number };
};

it('ends a retired connection when the last holder lets go', async () => {
  const connection = fakeConnection();
  const held = holdConnection(connection, 's', silentLog);
  const [first, second] = [held.hold(), held.hold()];
  const ended = held.retire();
  first();
  first();
  expect(connection.ended).toBe(0);
  second();
  await ended;
  expect(connection.ended).toBe(1);
});

it('ends an idle connection as soon as it is retired, and once', async () => {
  const connection = fakeConnection();
  const held = holdConnection(connection, 's', silentLog);
  await Promise.all([held.retire(), held.retire()]);
  expect(connection.ended).toBe(1);
});
