import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../../kernel/log.ts';
import type { KeyValue } from '../../../../store/key-value.ts';
import { openSqliteStore } from '../../../../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../../../store/store.ts';
import type { FakeClock } from '../../../../testing/fake-clock.ts';
import { fakeClock } from '../../../../testing/fake-clock.ts';
import { testKeyring } from '../../../../testing/test-keyring.ts';
import type { Visit } from '../relayed.ts';
import type { KeptResults } from './kept-results.ts';
import { createKeptResults } from './kept-results.ts';

const hour = 60 * 60_000;
const visit = (client?: string, server = 'lab'): Visit => ({ target: { name: server }, client }) as unknown as Visit;
const result = { content: [{ type: 'text', text: 'between us' }] };
const unknown = { code: -32_602, message: 'Task not found' };

describe('results that are kept for clients of 2025', () => {
  let clock: FakeClock;
  let store: Store;
  let space: KeyValue<string>;
  beforeEach(async () => {
    clock = fakeClock();
    store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
    space = store.keyValue('results');
  });
  afterEach(() => store[Symbol.asyncDispose]());
  const open = (): KeptResults => createKeptResults({ results: space, sealing: store.secrets, clock });

  it('are found by every process on the store, as the end of a task', async () => {
    const task = await open().keep(visit('ann'), result, 60_000);
    expect(task).toMatchObject({ status: 'completed', ttlMs: 60_000, result });
    const { taskId } = task;
    expect([open().isKept(taskId), open().isKept('t1')]).toEqual([true, false]);
    expect(await open().get(visit('ann'), taskId)).toEqual(task);
  });

  it('are found by their clients alone, and cannot be read in the store', async () => {
    const { taskId } = await open().keep(visit('ann'), result, undefined);
    for (const other of [visit('ben'), visit(), visit('ann', 'other')])
      await expect(open().get(other, taskId)).rejects.toMatchObject(unknown);
    expect(JSON.stringify(await space.list(''))).not.toContain('between us');
  });

  it.each(['gantry.done.\0', 'gantry.done.\ud800', 'gantry.done.x'])('are not known under %j', async (taskId) => {
    expect(open().isKept(taskId)).toBe(true);
    await expect(open().get(visit('ann'), taskId)).rejects.toMatchObject(unknown);
  });

  it.each([
    [60_000, 60_000],
    [undefined, hour],
    [24 * hour, hour],
    [-1, hour],
  ])('that are wanted for %s ms are kept for %i', async (wanted, kept) => {
    const { taskId } = await open().keep(visit('ann'), result, wanted);
    await clock.advance(kept - 1);
    expect(await open().get(visit('ann'), taskId)).toMatchObject({ ttlMs: kept });
    await clock.advance(1);
    await expect(open().get(visit('ann'), taskId)).rejects.toMatchObject(unknown);
  });

  it('make room for newer ones of the same client when it has fifty', async () => {
    const results = open();
    const other = await results.keep(visit('ben'), result, undefined);
    const ids: string[] = [];
    for (let count = 0; count < 51; count += 1) ids.push((await results.keep(visit('ann'), result, undefined)).taskId);
    await expect(results.get(visit('ann'), ids[0] ?? '')).rejects.toMatchObject(unknown);
    for (const taskId of ids.slice(1)) expect(await results.get(visit('ann'), taskId)).toMatchObject({ taskId });
    expect(await results.get(visit('ben'), other.taskId)).toEqual(other);
    expect(await space.count('')).toBe(51);
  });

  it('take no room when their time is over', async () => {
    const results = open();
    for (let count = 0; count < 50; count += 1) await results.keep(visit('ann'), result, 1_000);
    await clock.advance(1_000);
    const { taskId } = await results.keep(visit('ann'), result, 1_000);
    expect(await results.get(visit('ann'), taskId)).toMatchObject({ taskId });
    expect(await space.sweep()).toBe(0);
  });

  it('are not kept where they are too large, which their clients are told', async () => {
    const large = { content: [{ type: 'text', text: 'x'.repeat(9 * 1024 * 1024) }] };
    await expect(open().keep(visit('ann'), large, undefined)).rejects.toThrow(/was carried out.*Call without a task/);
    expect(await space.count('')).toBe(0);
  });
});
