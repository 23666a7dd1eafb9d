import { afterEach, beforeEach, expect, it } from 'vitest';
import { silentLog } from '../kernel/log.ts';
import type { MemoryRecord, WorkingMemory } from '../memory/working-memory.ts';
import { createWorkingMemory } from '../memory/working-memory.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { makeOperationDeps } from '../testing/make-operation-deps.ts';
import { testKeyring } from '../testing/test-keyring.ts';
import { memoryList, memoryShow } from './memory.ts';
import type { OperationDeps } from './operation-deps.ts';

let store: Store;
let memory: WorkingMemory;
let deps: OperationDeps;
beforeEach(async () => {
  const clock = fakeClock(Date.parse('2026-06-01T00:00:00Z'));
  store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  memory = createWorkingMemory({ keyValue: store.keyValue<MemoryRecord>('memory'), clock, log: silentLog });
  deps = makeOperationDeps([], { clock, memory });
  for (const key of ['session/a/Notes', 'session/a/list', 'session/ab/notes', 'shared/plan']) {
    await memory.save(key, `text of ${key}`, { category: 'drafts', tags: ['x'] });
    await clock.advance(1000);
  }
});
afterEach(async () => {
  await memory[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

it.each([
  [undefined, ['shared/plan', 'session/ab/notes', 'session/a/list', 'session/a/Notes']],
  ['session/a', ['session/ab/notes', 'session/a/list', 'session/a/Notes']],
  ['session/a/', ['session/a/list', 'session/a/Notes']],
  ['SESSION/A/n', ['session/a/Notes']],
  ['sha', ['shared/plan']],
  ['other', []],
])('lists the keys that begin with %j, newest first', async (prefix, keys) => {
  const { entries } = await memoryList.handler({ prefix }, deps, {});
  expect(entries.map((entry) => entry.key)).toEqual(keys);
});

it('lists entries without their texts', async () => {
  const listed = await memoryList.handler({ prefix: 'shared' }, deps, {});
  expect(memoryList.output.parse(listed)).toEqual({
    entries: [
      {
        key: 'shared/plan',
        chars: 19,
        category: 'drafts',
        tags: ['x'],
        savedAt: '2026-06-01T00:00:03.000Z',
        expiresAt: '2026-06-01T00:05:03.000Z',
      },
    ],
  });
});

it('shows an entry, whatever the case of its key', async () => {
  const shown = await memoryShow.handler({ key: 'Session/A/notes' }, deps, {});
  expect(memoryShow.output.parse(shown)).toMatchObject({ key: 'session/a/Notes', text: 'text of session/a/Notes' });
});

it('names keys that come close to one that is not there', async () => {
  await expect(memoryShow.handler({ key: 'shared/plans' }, deps, {})).rejects.toMatchObject({
    code: 'memory_unknown',
    message: expect.stringMatching(/never saved.*Did you mean "shared\/plan"\?$/) as string,
  });
});
