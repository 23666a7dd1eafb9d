import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { silentLog } from '../../kernel/log.ts';
import type { AdmitCall } from '../../mcp/face/admit-call.ts';
import type { Store } from '../../store/store.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { testKeyring } from '../../testing/test-keyring.ts';
import { createCallLimits } from './call-limits.ts';
import type { ClientRule } from './client-rules.ts';
import { createLocalRate } from './local-rate.ts';
import type { RateWindow } from './shared-rate.ts';
import { createSharedRate } from './shared-rate.ts';

const minuteMs = 60_000;
const ruled = (rule: ClientRule) => ({ of: () => rule });
const isLetIn = async (admit: AdmitCall, client = 'ci'): Promise<boolean> => !('refusal' in (await admit(client)));
const countLetIn = async (admits: readonly AdmitCall[], calls: number): Promise<number> => {
  let count = 0;
  for (let call = 0; call < calls; call += 1) if (await isLetIn(admits[call % admits.length] as AdmitCall)) count += 1;
  return count;
};

describe('the limits of a client in one process', () => {
  it('let in so many calls a minute, and say when there may be another', async () => {
    const clock = fakeClock();
    const admit = createCallLimits({ rules: ruled({ callsPerMinute: 6 }), rate: createLocalRate(clock) });
    expect(await countLetIn([admit], 10)).toBe(6);
    expect(await admit('ci')).toEqual({
      refusal: 'You may make 6 calls a minute; try again in 10 s.',
      retryAfterS: 10,
    });
    expect(await isLetIn(admit, 'other')).toBe(true);
    await clock.advance(10_000);
    expect(await countLetIn([admit], 2)).toBe(1);
  });

  it('let in so many at once, of which a refused one is none', async () => {
    const clock = fakeClock();
    const rules = ruled({ maxConcurrentCalls: 2, callsPerMinute: 3 });
    const admit = createCallLimits({ rules, rate: createLocalRate(clock) });
    const [first] = [await admit('ci'), await admit('ci')];
    expect(await isLetIn(admit)).toBe(false);
    (first as Disposable)[Symbol.dispose]();
    (first as Disposable)[Symbol.dispose]();
    expect(await isLetIn(admit)).toBe(true);
    expect(await isLetIn(admit)).toBe(false);
  });
});

describe('the limits of a client over several processes', () => {
  let clock: FakeClock;
  let store: Store;
  let trips = 0;
  beforeEach(async () => {
    clock = fakeClock();
    trips = 0;
    store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  });
  afterEach(() => store[Symbol.asyncDispose]());

  const open = (
    callsPerMinute: number,
    { log = silentLog, isAway = (): boolean => false, behindMs = 0 } = {},
  ): AdmitCall => {
    const stored = store.documents<RateWindow>('rates');
    const windows = {
      ...stored,
      get: (id: string) => {
        trips += 1;
        if (isAway()) throw new GantryError('store_unavailable', 'The store is away.');
        return stored.get(id);
      },
    };
    const own = { ...clock, nowMs: () => clock.nowMs() - behindMs };
    return createCallLimits({ rules: ruled({ callsPerMinute }), rate: createSharedRate({ windows, clock: own, log }) });
  };

  it('let in as many as the limit says together, asking the store now and then', async () => {
    const processes = [open(120), open(120), open(120)];
    expect(await countLetIn(processes, 300)).toBe(120);
    expect(trips).toBeLessThan(60);
    const before = trips;
    expect(await processes[0]?.('ci')).toMatchObject({ retryAfterS: 60 });
    expect(trips).toBe(before);
    await clock.advance(minuteMs);
    expect(await countLetIn(processes, 300)).toBe(120);
  });

  it('let in no more when all ask at the same moment', async () => {
    const processes = [open(50), open(50), open(50)];
    const asked = processes.flatMap((admit) => Array.from({ length: 40 }, () => isLetIn(admit)));
    expect((await Promise.all(asked)).filter(Boolean)).toHaveLength(50);
  });

  it('let in no more when the clock of one is behind', async () => {
    const processes = [open(40), open(40, { behindMs: 1_000 })];
    expect(await countLetIn(processes, 100)).toBe(40);
    expect(await countLetIn(processes, 100)).toBe(0);
  });

  it('do not carry over what a process has left', async () => {
    const [idle, busy] = [open(80), open(80)];
    await isLetIn(idle);
    await clock.advance(minuteMs);
    expect(await countLetIn([busy], 100)).toBe(80);
    expect(await isLetIn(idle)).toBe(false);
  });

  it('leave nothing in the store of clients that were not there for an hour', async () => {
    const stored = store.documents<RateWindow>('rates');
    const clients = async (): Promise<string[]> => (await stored.list()).map(({ id }) => id);
    const admit = open(10);
    await admit('old');
    await clock.advance(30 * minuteMs);
    await admit('ci');
    await clock.advance(31 * minuteMs);
    expect(await clients()).toEqual(['ci', 'old']);
    await admit('new');
    await expect.poll(clients).toEqual(['ci', 'new']);
  });

  it('count for each process while the store is away, which the log says once', async () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (_details, message) => void warnings.push(message) };
    let away = true;
    const admit = open(10, { log, isAway: () => away });
    expect(await countLetIn([admit], 30)).toBe(10);
    await clock.advance(minuteMs);
    expect(await countLetIn([admit], 30)).toBe(10);
    expect(warnings).toHaveLength(1);
    away = false;
    await clock.advance(minuteMs);
    expect(await countLetIn([admit], 30)).toBe(10);
  });
});
