import type { Server } from '@modelcontextprotocol/server';
import { expect, it } from 'vitest';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { LeasedSession } from '../../wire/sessions/older-sessions.ts';
import { relayToProgram } from './relay-to-program.ts';
import type { Relayed } from './relayed.ts';
import { fakeTaskWay } from './tasks/__fixtures__/fake-task-way.ts';

it.each([
  [
    'cancels the task that a program makes when its client has gone meanwhile',
    { task: {} },
    ['tools/call', 'tasks/cancel'],
  ],
  ['gives a call that is to be no task up at once', {}, ['tools/call']],
])('%s', async (_what, wish, seen) => {
  const clock = fakeClock();
  const answered = Promise.withResolvers<void>();
  const way = fakeTaskWay(async (method) => {
    if (method === 'tools/call') await answered.promise;
    return { task: { taskId: 't', status: 'working' } };
  });
  const gone = new AbortController();
  const relayed = {
    target: { name: 's', callTimeoutMs: 60_000, maxCallTimeoutMs: 60_000 },
    method: 'tools/call',
    params: { name: 'dig', ...wish },
    ctx: { mcpReq: { signal: gone.signal } },
  } as unknown as Relayed;
  const leased = { session: way, giveBack: () => {} } as unknown as LeasedSession;
  const called = relayToProgram(relayed, { server: {} as Server, leased, silences: new Set(), clock });
  called.catch(() => undefined);
  gone.abort();
  await clock.advance(1_000);
  answered.resolve();
  await called.catch(() => undefined);
  expect([way.seen, clock.pendingTimers]).toEqual([seen, 0]);
});
