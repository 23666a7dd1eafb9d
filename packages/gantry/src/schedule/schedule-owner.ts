import type { Clock, Timer } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Lease } from '../store/leases.ts';
import type { Store } from '../store/store.ts';
import { createDueIndex } from './due-index.ts';
import type { RunAction } from './run-action.ts';
import { adoptTask, runTask } from './run-task.ts';
import type { ScheduleShelf } from './schedule-shelf.ts';
import { noticedTask, scheduleShelf, zoneNotice } from './schedule-shelf.ts';

/**
 * Runs what is due while this process holds the lease of the schedule, and waits for the lease while another does.
 *
 * One timer, for the earliest run or the next look at the lease and the notices of changes, whichever is sooner; so the clock is also
 * read again at least every few seconds, whatever happened to it meanwhile.
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
// How much is written at once.
const batch = 1000;

/** The schedule while this process owns it. */
interface Held {
  lease: Lease;
  readonly shelf: ScheduleShelf;
  readonly ending: AbortController;
  agentZone: string;
  nextSweepMs: number;
  /** Something could not be written or read, so what is on disk is not known any more. */
  isStale: boolean;
}

/** Makes the owner; see {@link ScheduleOwner}. */
export const createScheduleOwner = (options: ScheduleOwnerOptions): ScheduleOwner => {
  const { store, clock, log, act, timeZone, maxParallelRuns = 4, leaseTtlMs = 30_000 } = options;
  const pollMs = leaseTtlMs / 6;
  const renewBelowMs = (leaseTtlMs * 2) / 3;
  const graceMs = leaseTtlMs * 2;
  const ownerId = newId();
  const due = createDueIndex();
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
  /** When the lease and the notices are looked at again at the latest. */
  let lookAtMs = 0;

  const lose = (reason: GantryError): void => {
    held?.ending.abort(reason);
    held = undefined;
    due.clear();
    for (const { id } of waiting.slice(turn)) busy.delete(id);
    waiting = [];
    turn = 0;
  };

  const hold = async (): Promise<Held | undefined> => {
    if (held) {
      if (held.lease.expiresAtMs - clock.nowMs() > renewBelowMs) return held;
      const renewed = await store.leases.renew(held.lease, leaseTtlMs);
      if (renewed) {
        held.lease = renewed;
        return held;
      }
      log.warn({ fence: held.lease.fence }, 'another process runs the schedule now');
      lose(new GantryError('lease_lost', 'Another process runs the schedule now.'));
    }
    const lease = await store.leases.acquire(leaseName, ownerId, leaseTtlMs);
    if (!lease) return undefined;
    const next: Held = {
      lease,
      shelf: scheduleShelf(store.withLease(lease)),
      ending: new AbortController(),
      agentZone: '',
      nextSweepMs: 0,
      isStale: false,
    };
    await load(next);
    log.debug({ tasks: due.size, fence: lease.fence }, 'this process runs the schedule');
    held = next;
    return next;
  };

  /** Reads everything anew; needed when the schedule becomes ours, and when the agent's zone changes. */
  const load = async (into: Held): Promise<void> => {
    into.agentZone = await timeZone();
    const deps = { shelf: into.shelf, clock, log, agentZone: () => into.agentZone };
    due.clear();
    let wrong: (() => Promise<void>)[] = [];
    const putRight = async (): Promise<void> => {
      await Promise.all(wrong.map((adopt) => adopt()));
      wrong = [];
    };
    for (const { id, value, revision } of await into.shelf.tasks.list()) {
      if (busy.has(id) && value.running?.fence === into.lease.fence) continue;
      const isOfOtherZone = value.atMs === undefined && value.next.timeZone !== (value.timeZone ?? into.agentZone);
      if (!value.running && !isOfOtherZone) due.set(id, value.next.atMs);
      else
        wrong.push(async () => {
          await adoptTask(id, value, revision, deps);
          await index(id, into);
        });
      if (wrong.length >= batch) await putRight();
    }
    await putRight();
  };

  const index = async (id: string, from: Held): Promise<void> => {
    const found = await from.shelf.tasks.get(id);
    if (found && !busy.has(id)) due.set(id, found.value.next.atMs);
    else due.remove(id);
  };

  /** Follows what was changed by this process and others. A notice goes before its task is read, so none is lost. */
  const takeNotices = async (from: Held): Promise<void> => {
    const notices = (await from.shelf.notices.list('')).map(({ key }) => key);
    const some = notices.slice(0, batch);
    // The lease must be looked after between batches.
    if (notices.length > batch) isWokenAgain = true;
    await Promise.all(some.map((notice) => from.shelf.notices.delete(notice)));
    if (some.includes(zoneNotice)) await load(from);
    else await Promise.all(some.map((notice) => index(noticedTask(notice), from)));
  };

  const run = async (id: string, noticedAtMs: number, from: Held): Promise<void> => {
    const { shelf, lease, ending } = from;
    const agentZone = (): string => from.agentZone;
    try {
      await runTask(id, noticedAtMs, {
        shelf,
        fence: lease.fence,
        clock,
        log,
        act,
        agentZone,
        graceMs,
        signal: ending.signal,
      });
      busy.delete(id);
      if (held && !held.isStale) await index(id, held);
    } catch (error) {
      busy.delete(id);
      log.warn({ task: id, err: error }, 'the state of a scheduled task could not be written or read');
      if (held === from && isLeaseLost(error)) lose(error);
      // With another lease by now, or a store in trouble: the task is found again by reading everything anew.
      else if (held) held.isStale = true;
    }
  };

  const startDue = (from: Held): void => {
    const nowMs = clock.nowMs();
    for (let id = due.takeDue(nowMs); id !== undefined; id = due.takeDue(nowMs)) {
      if (busy.has(id)) continue;
      busy.add(id);
      waiting.push({ id, noticedAtMs: nowMs });
    }
    while (turn < waiting.length && runs.size < maxParallelRuns) {
      const { id, noticedAtMs } = waiting[turn] as (typeof waiting)[number];
      turn += 1;
      const running = run(id, noticedAtMs, from).finally(() => {
        runs.delete(running);
        if (state !== 'started') return;
        if (held) startDue(held);
        if (!working) arm();
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
    if (mine.isStale) {
      await load(mine);
      mine.isStale = false;
    }
    await takeNotices(mine);
    startDue(mine);
  };

  const arm = (isDueCounted = true): void => {
    timer?.stop();
    if (state !== 'started') return;
    const dueMs = isDueCounted && held ? due.nextMs() : undefined;
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

const isLeaseLost = (error: unknown): error is GantryError => GantryError.is(error) && error.code === 'lease_lost';
