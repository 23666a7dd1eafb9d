import { expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import type { MemoryRecord } from '../../memory/working-memory.ts';
import { createWorkingMemory } from '../../memory/working-memory.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { testKeyring } from '../../testing/test-keyring.ts';
import type { RunHoldings } from '../subagents/run-holdings.ts';
import { createLetGo } from './let-go.ts';

it('ends subagents, tasks and questions of the conversation, and empties its memory; others keep theirs', async () => {
  const clock = fakeClock();
  await using store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  await using memory = createWorkingMemory({
    keyValue: store.keyValue<MemoryRecord>('memory'),
    clock,
    log: silentLog,
  });
  for (const key of ['session/a/x', 'session/a/y/z', 'stash/a/c1', 'session/ab/x', 'stash/ab/c1', 'shared/x'])
    await memory.save(key, 'text');
  const ended: string[] = [];
  const letGo = createLetGo({
    memory,
    subagents: {
      list: (namespace) => (namespace === 'session/a' ? [{ taskId: 't1', description: 'd', elapsedMs: 1 }] : []),
      cancel: async (taskId, namespace) => ended.push(`${taskId} of ${namespace}`) > 0,
    },
    holdings: {
      openTasks: async () => ['task1'],
      cancelTask: async (id, namespace) => ended.push(`${id} of ${namespace}`),
      releaseQuestions: () => Promise.reject(new Error('no bridge')),
    } satisfies RunHoldings,
    log: silentLog,
  });
  await letGo('session/a');
  expect(ended).toEqual(['t1 of session/a', 'task1 of session/a']);
  expect((await memory.list('')).map(({ key }) => key).toSorted()).toEqual(['session/ab/x', 'shared/x', 'stash/ab/c1']);
});
