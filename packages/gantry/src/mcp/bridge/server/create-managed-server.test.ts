import { expect, it } from 'vitest';
import { silentLog } from '../../../kernel/log.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { toBridgeSettings } from '../bridge-options.ts';
import { createManagedServer } from './create-managed-server.ts';
import type { ManagedServer, ManagedServerOptions } from './managed-server.ts';

const startServer = (): { server: ManagedServer; attempts: () => number; letConnect: () => void } => {
  let attempts = 0;
  const gate = Promise.withResolvers<void>();
  const options: ManagedServerOptions = {
    clock: fakeClock(),
    log: silentLog,
    settings: toBridgeSettings({ stdio: 'launch' }),
    pool: { fetchFor: () => fetch } as unknown as ManagedServerOptions['pool'],
    env: {},
    clientVersion: '1',
    random: () => 0,
    argGuards: { problemOf: () => undefined },
    isOwnListener: () => false,
    connectAfter: gate.promise,
    catalog: { save: () => {} },
    saved: undefined,
    authProfiles: new Set(),
    answersFor: () => ({}),
    tokensFor: () => {
      attempts += 1;
      return undefined;
    },
    onSurface: () => {},
    onWithdrawn: () => {},
    onStatus: () => {},
  };
  const server = createManagedServer('s', { id: 'i', command: '/no/such/program' }, options);
  return { server, attempts: () => attempts, letConnect: gate.resolve };
};

it.each<[string, (server: ManagedServer) => Promise<unknown>]>([
  ['whose call still holds it', (server) => server.leaseConnected({ signal: AbortSignal.timeout(60_000) })],
  ['who asks for a new connection', (server) => server.reconnect()],
])('a server that is gone is not started again by one %s, who is told so', async (_who, use) => {
  const { server, attempts } = startServer();
  await server[Symbol.asyncDispose]();
  await expect(use(server)).rejects.toMatchObject({
    code: 'server_unknown',
    message: expect.stringMatching(/^Server "s" is gone/) as string,
  });
  expect(attempts()).toBe(0);
});

it('a server that is gone before the first attempt is not started, nor is it by an edit that came too late or by a sweep', async () => {
  const { server, attempts, letConnect } = startServer();
  await server[Symbol.asyncDispose]();
  letConnect();
  await server.settled;
  await server.update({ id: 'i', command: '/no/other/program' });
  await server.sweep();
  expect(attempts()).toBe(0);
});
