import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import { silentLog } from '../../../kernel/log.ts';
import type { Store } from '../../../store/store.ts';
import { openSqliteStore } from '../../../store/sqlite/open-sqlite-store.ts';
import type { FakeClock } from '../../../testing/fake-clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { testKeyring } from '../../../testing/test-keyring.ts';
import type { SamplingBudget, SpentCalls } from './sampling-budget.ts';
import { createSamplingBudget } from './sampling-budget.ts';

describe('the budget of a server for models', () => {
  let clock: FakeClock;
  let store: Store;
  beforeEach(async () => {
    clock = fakeClock();
    store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  });
  afterEach(() => store[Symbol.asyncDispose]());
  const open = (): SamplingBudget =>
    createSamplingBudget({ spent: store.documents<SpentCalls>('spent'), clock, log: silentLog });
  const limits = { callsPerHour: 3, tokensPerHour: 100 };

  it('is one for all processes, and never given out twice', async () => {
    const processes = [open(), open(), open()];
    const taken = await Promise.all([...processes, ...processes].map((budget) => budget.take('s', 1, limits)));
    expect(taken.filter((one) => 'taken' in one)).toHaveLength(3);
    expect(await open().take('other', 1, limits)).toHaveProperty('taken');
  });

  it('comes back with the hour, also after a restart', async () => {
    for (let count = 0; count < 3; count += 1) await open().take('s', 1, limits);
    await clock.advance(10 * 60_000);
    expect(await open().take('s', 1, limits)).toEqual({
      refusal: 'it has used its 3 answers of this hour; the next in 50 minutes',
    });
    await clock.advance(50 * 60_000);
    expect(await open().take('s', 1, limits)).toHaveProperty('taken');
  });

  it('counts the likely tokens until the real ones are known, elsewhere too', async () => {
    const first = await open().take('s', 90, limits);
    expect(await open().take('s', 20, limits)).toHaveProperty('refusal');
    if ('taken' in first) await first.taken.settle(10);
    expect(await open().take('s', 20, limits)).toHaveProperty('taken');
  });

  it('is given to nobody while it cannot be counted', async () => {
    const away = async (): Promise<never> => {
      throw new GantryError('store_unavailable', 'The store is away.');
    };
    const spent = { ...store.documents<SpentCalls>('spent'), get: away };
    const budget = createSamplingBudget({ spent, clock, log: silentLog });
    expect(await budget.take('s', 1, limits)).toEqual({
      refusal: 'what it has used of its budget cannot be found out now',
    });
  });
});
