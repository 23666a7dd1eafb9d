import type { Clock, Timer } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Lease } from '../store/leases.ts';
import type { Store } from '../store/store.ts';
import { moveTimes } from './move-times.ts';
import type { RunAction } from './run-action.ts';
import type { RunDeps } from './run-task.ts';
import { adoptTask, runTask } from './run-task.ts';
import type { ScheduleShelf } from './schedule-shelf.ts';
import { scheduleShelf } from './schedule-shelf.ts';

/**
 * Runs what is due while this process holds the lease of the schedule, and waits for the lease while another does.
 *
 * Nothing of the schedule is held in memory but the few tasks that come next: each look asks the store for them, and so sees what
 * any process has changed. One timer, for the earliest run or the next look, whichever is sooner; so the clock is also read
 * again at least every few seconds, whatever happened to it meanwhile.
 */
export interface ScheduleOwner extends AsyncDisposable {
  start(): void;
  /** Looks at once for what has changed. Does nothing before the start. */
  wake(): void;
}

/** What an owner works with. */
export interface ScheduleOwnerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly act: RunAction;
  timeZone(): Promise<string>;
  readonly maxParallelRuns?: number | undefined;
  readonly leaseTtlMs?: number | undefined;
}

const leaseName = 'schedule';
const sweepEveryMs = 3_600_000;
/** How many tasks are read ahead of their turn. */
const ahead = 64;

/** The schedule while this process owns it. */
interface Held {
  lease: Lease;
  readonly shelf: ScheduleShelf;
  readonly ending: AbortController;
  agentZone: string | undefined;
  nextSweepMs: number;
  /** The earliest run that is not due yet. */
  nextDueMs: number | undefined;
  /** Since when more has been due than is read ahead; until that is over, nothing counts as missed that was not so before. */
  behindSinceMs: number | undefined;
}

/** Makes the owner; see {@link ScheduleOwner}. */
export const createScheduleOwner = (options: ScheduleOwnerOptions): ScheduleOwner => {
  const { store, clock, log, act, timeZone, maxParallelRuns = 4, leaseTtlMs = 30_000 } = options;
  const pollMs = leaseTtlMs / 6;
  const renewBelowMs = (leaseTtlMs * 2) / 3;
  const graceMs = leaseTtlMs * 2;
  const ownerId = newId();
  /** Ids that wait for their turn or run; they are not due again before that is over. */
  const busy = new Set<string>();
  let waiting: { readonly id: string; readonly noticedAtMs: number }[] = [];
  let turn = 0;
  const runs = new Set<Promise<void>>();
  let held: Held | undefined;
  let state: 'new' | 'started' | 'stopped' = 'new';
  let timer: Timer | undefined;
  let working: Promise<void> | undefined;
  let isWokenAgain = false;
  /** When the lease and the store are looked at again at the latest. */
  let lookAtMs = 0;

  const lose = (reason: GantryError): void => {
    held?.ending.abort(reason);
    held = undefined;
    for (const { id } of waiting.slice(turn)) busy.delete(id);
    waiting = [];
    turn = 0;
  };

  /** Prolongs the lease when its end comes near. */
  const keep = async (mine: Held): Promise<boolean> => {
    if (mine.lease.expiresAtMs - clock.nowMs() > renewBelowMs) return true;
    const renewed = await store.leases.renew(mine.lease, leaseTtlMs);
    if (renewed) mine.lease = renewed;
    else log.warn({ fence: mine.lease.fence }, 'another process runs the schedule now');
    return renewed !== undefined;
  };

  const hold = async (): Promise<Held | undefined> => {
    if (held) {
      if (await keep(held)) return held;
      lose(lost());
    }
    const lease = await store.leases.acquire(leaseName, ownerId, leaseTtlMs);
    if (!lease) return undefined;
    log.debug({ fence: lease.fence }, 'this process runs the schedule');
    held = {
      lease,
      shelf: scheduleShelf(store.withLease(lease)),
      ending: new AbortController(),
      agentZone: undefined,
      nextSweepMs: 0,
      nextDueMs: undefined,
      behindSinceMs: undefined,
    };
    return held;
  };

  const depsOf = (mine: Held, zone: string): Pick<RunDeps, 'shelf' | 'clock' | 'log' | 'agentZone'> => ({
    shelf: mine.shelf,
    clock,
    log,
    agentZone: () => mine.agentZone ?? zone,
  });

  const followZone = async (mine: Held): Promise<void> => {
    const zone = await timeZone();
    if (zone === mine.agentZone) return;
    const before = mine.agentZone;
    mine.agentZone = zone;
    try {
      await moveTimes(depsOf(mine, zone), async () => {
        if (!(await keep(mine))) throw lost();
      });
    } catch (error) {
      mine.agentZone = before;
      throw error;
    }
  };

  /** Reads what comes next, puts runs right that were cut off, and lines up what is due. */
  const lineUp = async (mine: Held): Promise<void> => {
    const nowMs = clock.nowMs();
    const room = ahead - (waiting.length - turn);
    if (room <= 0) {
      mine.behindSinceMs ??= nowMs;
      return;
    }
    const limit = busy.size + room + 1;
    const found = await mine.shelf.tasks.earliest(limit);
    mine.nextDueMs = undefined;
    let isAllDue = found.length === limit;
    for (const { id, value, revision, order } of found) {
      const isForeignRun = value.running && (!busy.has(id) || value.running.fence !== mine.lease.fence);
      if (isForeignRun) {
        // Its times are read anew, as it may be due at once.
        isWokenAgain = true;
        await adoptTask(id, value, revision, depsOf(mine, mine.agentZone ?? ''));
      }
      if (value.running || busy.has(id)) continue;
      if (order > nowMs) {
        isAllDue = false;
        mine.nextDueMs = order;
        break;
      }
      busy.add(id);
      waiting.push({ id, noticedAtMs: mine.behindSinceMs === undefined ? nowMs : Math.max(order, mine.behindSinceMs) });
    }
    if (isAllDue) mine.behindSinceMs ??= nowMs;
    else mine.behindSinceMs = undefined;
  };

  const run = async (id: string, noticedAtMs: number, from: Held): Promise<void> => {
    const { shelf, lease, ending } = from;
    try {
      await runTask(id, noticedAtMs, {
        ...depsOf(from, ''),
        shelf,
        fence: lease.fence,
        act,
        graceMs,
        signal: ending.signal,
      });
    } catch (error) {
      log.warn({ task: id, err: error }, 'the state of a scheduled task could not be written or read');
      if (held === from && isLeaseLost(error)) lose(error);
    } finally {
      busy.delete(id);
    }
  };

  const startDue = (from: Held): void => {
    while (turn < waiting.length && runs.size < maxParallelRuns) {
      const { id, noticedAtMs } = waiting[turn] as (typeof waiting)[number];
      turn += 1;
      const running = run(id, noticedAtMs, from).finally(() => {
        runs.delete(running);
        if (state !== 'started') return;
        if (held) startDue(held);
        // The task that ran has a new time, and others may wait to be read.
        wake();
      });
      runs.add(running);
    }
    if (turn === waiting.length) {
      waiting = [];
      turn = 0;
    }
  };

  const round = async (): Promise<void> => {
    const mine = await hold();
    if (!mine || state !== 'started') return;
    if (clock.nowMs() >= mine.nextSweepMs) {
      mine.nextSweepMs = clock.nowMs() + sweepEveryMs;
      await mine.shelf.sweep();
    }
    await followZone(mine);
    await lineUp(mine);
    if (held === mine) startDue(mine);
  };

  const arm = (isDueCounted = true): void => {
    timer?.stop();
    if (state !== 'started') return;
    const dueMs = isDueCounted ? held?.nextDueMs : undefined;
    const atMs = dueMs === undefined ? lookAtMs : Math.min(dueMs, lookAtMs);
    timer = clock.startTimer(Math.max(0, atMs - clock.nowMs()), wake);
  };

  const work = async (): Promise<void> => {
    let failed = false;
    do {
      isWokenAgain = false;
      try {
        await round();
        failed = false;
      } catch (error) {
        failed = true;
        if (state === 'started') log.warn({ err: error }, 'the schedule could not be looked at; it is tried again');
        if (isLeaseLost(error)) lose(error);
      }
    } while (isWokenAgain && !failed);
    working = undefined;
    lookAtMs = clock.nowMs() + pollMs;
    // After a failure what is due stays due; trying at once would go round in circles.
    arm(!failed);
  };

  const wake = (): void => {
    if (state !== 'started') return;
    if (working) isWokenAgain = true;
    else working = work();
  };

  return {
    start: () => {
      if (state !== 'new') return;
      state = 'started';
      wake();
    },
    wake,
    [Symbol.asyncDispose]: async () => {
      if (state === 'stopped') return;
      state = 'stopped';
      timer?.stop();
      held?.ending.abort(new GantryError('stopped', 'Gantry is stopping.'));
      await working;
      await Promise.allSettled(runs);
      if (held) await store.leases.release(held.lease);
      held = undefined;
    },
  };
};

const lost = (): GantryError => new GantryError('lease_lost', 'Another process runs the schedule now.');

const isLeaseLost = (error: unknown): error is GantryError => GantryError.is(error) && error.code === 'lease_lost';
