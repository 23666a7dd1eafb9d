import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../kernel/log.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../store/store.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { testKeyring } from '../../testing/test-keyring.ts';
import type { TurnGuard, TurnGuardOptions, TurnHolder } from './turn-guard.ts';
import { createTurnGuard } from './turn-guard.ts';

const overtaken = new Error('overtaken');
const never = new AbortController().signal;

let clock: FakeClock;
let store: Store;
/** Number of the newest turn that a person has spoken. */
let newest: number;
beforeEach(async () => {
  clock = fakeClock();
  store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  newest = 0;
});
afterEach(() => store[Symbol.asyncDispose]());

/** A guard as another process would have it. */
const open = (options: Partial<TurnGuardOptions> = {}): TurnGuard =>
  createTurnGuard({
    leases: store.leases,
    holders: store.keyValue('session-holders'),
    reasonToEnd: async (_session, number) => (newest > number ? overtaken : undefined),
    clock,
    log: silentLog,
    ...options,
  });

/** Work that goes on until it is told to end, or given up. */
const work = () => {
  const began = Promise.withResolvers<AbortSignal>();
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const run = (signal: AbortSignal): Promise<string> => {
    began.resolve(signal);
    signal.addEventListener('abort', () => reject(signal.reason as Error));
    return promise;
  };
  return { run, began: began.promise, end: () => resolve('done') };
};

describe('createTurnGuard', () => {
  it('lets a process answer when the other has ended, and sessions go on side by side', async () => {
    const first = work();
    const second = work();
    const other = work();
    const one = open().run('session/a', 1, never, first.run);
    await first.began;
    const two = open().run('session/a', 1, never, second.run);
    const elsewhere = open().run('session/b', 1, never, other.run);
    await other.began;
    await clock.advance(2_000);
    first.end();
    expect(await one).toBe('done');
    await clock.advance(500);
    await second.began;
    for (const each of [second, other]) each.end();
    expect(await Promise.all([two, elsewhere])).toEqual(['done', 'done']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('keeps its claim for as long as the work takes', async () => {
    const long = work();
    const running = open().run('session/a', 1, never, long.run);
    await long.began;
    for (let second = 0; second < 60; second += 1) await clock.advance(1_000);
    expect(await open().isBusy('session/a')).toBe(true);
    long.end();
    expect(await running).toBe('done');
    expect(await open().isBusy('session/a')).toBe(false);
  });

  it('ends a turn that another process has overtaken', async () => {
    const old = work();
    const running = open().run('session/a', 1, never, old.run);
    const failed = expect(running).rejects.toBe(overtaken);
    const signal = await old.began;
    newest = 2;
    await clock.advance(500);
    await failed;
    expect(signal.reason).toBe(overtaken);
  });

  it('does not begin a turn that was overtaken while it waited', async () => {
    const first = work();
    const second = work();
    const one = open().run('session/a', 1, never, first.run);
    await first.began;
    const two = expect(open().run('session/a', 2, never, second.run)).rejects.toBe(overtaken);
    newest = 3;
    const ended = expect(one).rejects.toBe(overtaken);
    await clock.advance(500);
    await ended;
    await clock.advance(500);
    await two;
  });

  it('takes over from a process that died, when its claim has run out', async () => {
    expect(await store.leases.acquire('session/a', 'dead', 15_000)).toBeDefined();
    const next = work();
    const running = open().run('session/a', 1, never, next.run);
    for (let second = 0; second < 16; second += 1) await clock.advance(1_000);
    await next.began;
    next.end();
    expect(await running).toBe('done');
  });

  it('takes over at once from a process that is known to have died, and from no other', async () => {
    const dead = { space: 'here', pid: 1 };
    const living = { space: 'here', pid: 2 };
    const isGone = ({ pid }: { pid: number }): boolean => pid === dead.pid;
    const killed = work();
    void open({ ownMark: dead }).run('session/a', 1, never, killed.run);
    await killed.began;
    expect(await open({ isGone }).run('session/a', 1, never, async () => 'took over')).toBe('took over');
    const alive = work();
    const answered = open({ ownMark: living, isGone }).run('session/a', 1, never, alive.run);
    await alive.began;
    const waiting = Promise.withResolvers<void>();
    const next = open({ isGone }).run('session/a', 1, never, async () => 'went on', waiting.resolve);
    await waiting.promise;
    alive.end();
    expect(await answered).toBe('done');
    await clock.advance(500);
    expect(await next).toBe('went on');
  });

  it('releases no claim of a living process by what a dead one left behind', async () => {
    const dead = { space: 'here', pid: 1 };
    const isGone = ({ pid }: { pid: number }): boolean => pid === dead.pid;
    const killed = work();
    const first = open({ ownMark: dead }).run('session/a', 1, never, killed.run);
    await killed.began;
    const note = await store.keyValue<TurnHolder>('session-holders').get('session/a');
    killed.end();
    await first;
    const alive = work();
    const answered = open().run('session/a', 1, never, alive.run);
    await alive.began;
    if (note) await store.keyValue<TurnHolder>('session-holders').set('session/a', note.value);
    const waiting = Promise.withResolvers<void>();
    const next = open({ isGone }).run('session/a', 1, never, async () => 'went on', waiting.resolve);
    await waiting.promise;
    expect(note?.value.process).toEqual(dead);
    alive.end();
    await answered;
    await clock.advance(500);
    expect(await next).toBe('went on');
  });

  it('ends a turn whose claim went to another', async () => {
    const slow = work();
    const leases = { ...store.leases, renew: async () => undefined };
    const failed = expect(open({ leases }).run('session/a', 1, never, slow.run)).rejects.toMatchObject({
      code: 'lease_lost',
    });
    await slow.began;
    await clock.advance(5_500);
    await failed;
  });

  it('goes on while the store is away for a moment', async () => {
    const long = work();
    let isAway = false;
    const reasonToEnd = async (): Promise<undefined> => {
      if (isAway) throw new Error('away');
    };
    const running = open({ reasonToEnd }).run('session/a', 1, never, long.run);
    await long.began;
    isAway = true;
    await clock.advance(10_000);
    isAway = false;
    for (let second = 0; second < 20; second += 1) await clock.advance(1_000);
    long.end();
    expect(await running).toBe('done');
  });

  it('stops waiting when its caller gives up', async () => {
    const first = work();
    const one = open().run('session/a', 1, never, first.run);
    await first.began;
    const gone = new AbortController();
    const waiting = expect(open().run('session/a', 1, gone.signal, work().run)).rejects.toMatchObject({
      code: 'cancelled',
    });
    await clock.advance(500);
    gone.abort(new Error('gone'));
    await waiting;
    first.end();
    await one;
  });
});
