import { expect, it } from 'vitest';
import { silentLog } from '../../../kernel/log.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { createStartProgram } from './start-program.ts';

it.each([
  ['that is there is tried', false, 'server_unreachable'],
  ['that is gone is not started', true, 'server_unknown'],
])('the program of a server %s for a client alone', async (_what, isGone, code) => {
  const server = {
    name: 's',
    entry: { id: 'i', command: '/no/such/program' },
    isGone,
    maskSecrets: (text: string) => text,
  };
  const start = createStartProgram('stdio', server, {
    clock: fakeClock(),
    log: silentLog,
    fetch,
    tokens: undefined,
    env: {},
    maxResponseBytes: 1_000,
  });
  const hears = { message: () => {}, ended: () => {} };
  await expect(start(hears, AbortSignal.timeout(60_000))).rejects.toMatchObject({ code });
});
