import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LogFacts } from '../kernel/log.ts';
import { silentLog } from '../kernel/log.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../store/store.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import type { FakeClock } from '../testing/fake-clock.ts';
import { testKeyring } from '../testing/test-keyring.ts';
import type { MemoryRecord, WorkingMemory } from './working-memory.ts';
import { createWorkingMemory } from './working-memory.ts';

const minuteMs = 60_000;
let clock: FakeClock;
let store: Store;
let memory: WorkingMemory;
let warnings: LogFacts[];

const create = () =>
  createWorkingMemory({
    keyValue: store.keyValue<MemoryRecord>('working-memory'),
    clock,
    log: { ...silentLog, warn: (facts) => void warnings.push(facts) },
  });

beforeEach(async () => {
  clock = fakeClock();
  warnings = [];
  store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  memory = create();
});
afterEach(async () => {
  await memory[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

const fill = async (namespace: string, entries = 50): Promise<void> => {
  for (let n = 1; n <= entries; n += 1) await memory.save(`${namespace}/${n}`, `${n}`);
};

describe('createWorkingMemory', () => {
  it('finds a key in whatever case it is written, and shows it as it was written last', async () => {
    await memory.save('session/AbC/Plan', 'one');
    await memory.save('SESSION/abc/PLAN', 'two', { category: 'notes', tags: ['x'] });
    expect(await memory.list('Session/ABC')).toEqual([
      {
        key: 'SESSION/abc/PLAN',
        text: 'two',
        category: 'notes',
        tags: ['x'],
        savedAtMs: clock.nowMs(),
        expiresAtMs: clock.nowMs() + 5 * minuteMs,
      },
    ]);
    expect((await memory.get('session/abc/plan'))?.text).toBe('two');
    expect([await memory.delete('session/ABC/plan'), await memory.delete('session/ABC/plan')]).toEqual([true, false]);
  });

  it('forgets an entry when its time is over', async () => {
    await memory.save('session/1/a', 'text', { ttlMs: minuteMs });
    await clock.advance(minuteMs);
    expect(await memory.get('session/1/a')).toBeUndefined();
    expect(await memory.list('session/1')).toEqual([]);
  });

  it('refuses the 51st entry of a namespace with a warning, and accepts an update of the first', async () => {
    await fill('session/1');
    await expect(memory.save('session/1/51', 'x')).rejects.toMatchObject({ code: 'memory_refused' });
    expect(warnings).toMatchObject([{ key: 'session/1/51', namespace: 'session/1' }]);
    await memory.save('session/1/1', 'new');
    await memory.save('session/2/1', 'other namespace');
    await expect(memory.save('session/1/deep/er', 'x')).rejects.toMatchObject({ code: 'memory_refused' });
  });

  it('counts everything below shared/ as one namespace', async () => {
    await fill('shared');
    await expect(memory.save('shared/51', 'x')).rejects.toMatchObject({ code: 'memory_refused' });
  });

  it('has room again once an entry expired', async () => {
    await memory.save('session/1/short', 'x', { ttlMs: minuteMs });
    await fill('session/1', 49);
    await clock.advance(minuteMs);
    await expect(memory.save('session/1/50', 'x')).resolves.toBeDefined();
  });

  it('stashes without regard to the cap, and does not count what is stashed', async () => {
    const stashed: (string | undefined)[] = [];
    for (let n = 0; n < 60; n += 1)
      stashed.push(
        await memory.stash({
          namespace: 'session/1',
          key: `c${n}`,
          text: `${n}`,
          category: 'tool-result',
          ttlMs: minuteMs,
        }),
      );
    for (const [n, key] of stashed.entries()) expect((await memory.get(key ?? ''))?.text).toBe(`${n}`);
    await fill('session/1');
    const late = await memory.stash({ namespace: 'session/1', key: 'late', text: 'x', category: 'c', ttlMs: minuteMs });
    expect(late).toBe('session/1/late');
  });

  it('lists whole segments, newest first', async () => {
    await memory.save('subagent/1/old', 'x');
    await clock.advance(1);
    await memory.save('subagent/1/new', 'x');
    await memory.save('subagent/12/other', 'x');
    expect((await memory.list('subagent/1')).map(({ key }) => key)).toEqual(['subagent/1/new', 'subagent/1/old']);
    expect(await memory.list('subagent')).toHaveLength(3);
  });

  it('leaves entries the time they had when it is made anew', async () => {
    await memory.save('session/1/a', 'text', { ttlMs: 10 * minuteMs });
    await clock.advance(9 * minuteMs);
    await using again = create();
    expect((await again.get('session/1/a'))?.expiresAtMs).toBe(clock.nowMs() + minuteMs);
    await clock.advance(minuteMs);
    expect(await again.get('session/1/a')).toBeUndefined();
  });

  it('frees expired entries by itself, every hour, until it is disposed', async () => {
    const keyValue = store.keyValue<MemoryRecord>('working-memory');
    const swept: number[] = [];
    await using watched = createWorkingMemory({
      keyValue: { ...keyValue, sweep: async () => swept.push(clock.nowMs()) },
      clock,
      log: silentLog,
    });
    const startMs = clock.nowMs();
    await clock.advance(121 * minuteMs);
    expect(swept.map((atMs) => (atMs - startMs) / minuteMs)).toEqual([1, 61, 121]);
    await watched[Symbol.asyncDispose]();
    await memory[Symbol.asyncDispose]();
    expect(clock.pendingTimers).toBe(0);
  });

  it('goes on after a sweep that failed, and says so', async () => {
    const keyValue = store.keyValue<MemoryRecord>('working-memory');
    await using failing = createWorkingMemory({
      keyValue: { ...keyValue, sweep: () => Promise.reject(new Error('disk full')) },
      clock,
      log: { ...silentLog, warn: (facts) => void warnings.push(facts) },
    });
    await clock.advance(61 * minuteMs);
    expect(warnings).toHaveLength(2);
    await failing.save('session/1/a', 'x');
  });

  it.each(['', '  ', '/', ' / / '])('refuses the blank key "%s"', async (key) => {
    await expect(memory.save(key, 'x')).rejects.toMatchObject({ code: 'memory_refused' });
  });

  it('takes stray slashes and white space for the same key', async () => {
    expect((await memory.save('/session/1//my\n key/', 'x')).key).toBe('session/1/my key');
    expect((await memory.get(' session / 1/my  key'))?.text).toBe('x');
  });
});
