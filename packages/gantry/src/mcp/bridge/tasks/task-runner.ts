import { startDeadline } from '../../../kernel/abort.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Lease as StoreLease } from '../../../store/leases.ts';
import type { Ledger, LedgerEntry } from '../../../store/ledger.ts';
import type { Store } from '../../../store/store.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { ServerDirectory } from '../call/server-directory.ts';
import { toConnectionFault } from '../connection/connection-errors.ts';
import type { DeliverLate } from '../late-results.ts';
import type { PollTask } from './poll-task.ts';
import { openHold } from './task-hold.ts';
import type { TaskEnd, TaskRecord } from './task-record.ts';
import { cancelTask } from './task-requests.ts';

/** Polls unfinished tasks while this process holds the lease; one timer for all of them. */
export interface TaskRunner extends AsyncDisposable {
  start(): void;
  /** A task was recorded; it is polled first after the interval that its server suggested. */
  follow(id: string, pollIntervalMs: number | undefined): void;
  /** Something happened to the task: it is polled soon. */
  wake(id: string): void;
  /** Ends a task and tells its session. */
  end(entry: LedgerEntry<TaskRecord>, as: TaskEnd, outcome: Outcome): Promise<void>;
}

/** What a runner works with. */
export interface TaskRunnerOptions {
  readonly store: Pick<Store, 'secrets' | 'leases'>;
  readonly ledger: Ledger<TaskRecord>;
  readonly servers: ServerDirectory;
  readonly clock: Clock;
  readonly log: Log;
  readonly poll: PollTask;
  readonly deliver: DeliverLate;
  readonly settle: (id: string, as: TaskEnd, reason?: string) => Promise<boolean>;
  readonly pollMinMs: number;
  readonly pollMaxMs: number;
  readonly pollFailureLimit: number;
}

const leaseName = 'mcp-tasks';
const leaseTtlMs = 15_000;
const lookEveryMs = leaseTtlMs / 3;
const pollBudgetMs = 30_000;
const usualPollMs = 1_000;
const purgeAfterMs = 24 * 3_600_000;

/** What is remembered of a task between polls; none of it matters after a restart. */
interface Followed {
  dueAtMs: number;
  intervalMs: number | undefined;
  /** Polls without a suggested interval, or failed ones, come ever more slowly. */
  slowness: number;
  failures: number;
  isPolling: boolean;
}

/** Makes the runner. */
export const createTaskRunner = (options: TaskRunnerOptions): TaskRunner => {
  const { store, ledger, servers, clock, log, poll, deliver, settle, pollMinMs, pollMaxMs, pollFailureLimit } = options;
  const ownerId = newId();
  const stopping = new AbortController();
  const followed = new Map<string, Followed>();
  const polling = new Set<Promise<void>>();
  let lease: StoreLease | undefined;
  let timer: Timer | undefined;
  let looking: Promise<void> = Promise.resolve();
  let lookAtMs = 0;
  let purgeAtMs = 0;

  const clamp = (ms: number): number => Math.min(pollMaxMs, Math.max(pollMinMs, ms));
  const waitOf = ({ intervalMs, slowness }: Followed): number => clamp((intervalMs ?? usualPollMs) * 1.5 ** slowness);

  const note = (id: string, intervalMs: number | undefined): Followed => {
    const known = followed.get(id);
    if (known) return known;
    const task: Followed = { dueAtMs: 0, intervalMs, slowness: 0, failures: 0, isPolling: false };
    task.dueAtMs = clock.nowMs() + waitOf(task);
    followed.set(id, task);
    return task;
  };

  /** Acquires or keeps the lease, and finds tasks that other processes recorded. */
  const look = async (): Promise<void> => {
    lookAtMs = clock.nowMs() + lookEveryMs;
    try {
      lease = lease
        ? await store.leases.renew(lease, leaseTtlMs)
        : await store.leases.acquire(leaseName, ownerId, leaseTtlMs);
      if (!lease) {
        followed.clear();
        return;
      }
      const open = await ledger.list({ open: true });
      for (const { id } of open) note(id, undefined);
      const ids = new Set(open.map(({ id }) => id));
      for (const [id, task] of followed) if (!ids.has(id) && !task.isPolling) followed.delete(id);
      if (clock.nowMs() >= purgeAtMs) {
        purgeAtMs = clock.nowMs() + purgeAfterMs / 24;
        await ledger.purge(clock.nowMs() - purgeAfterMs);
      }
    } catch (error) {
      log.warn(
        { reason: messageOf(error) },
        'background tasks could not be looked at; the next try is in a few seconds',
      );
    }
  };

  const tick = (): void => {
    timer = undefined;
    looking = looking.then(async () => {
      if (stopping.signal.aborted) return;
      if (clock.nowMs() >= lookAtMs) await look();
      if (lease) for (const [id, task] of followed) if (!task.isPolling && task.dueAtMs <= clock.nowMs()) run(id, task);
      arm();
    });
  };

  const arm = (): void => {
    if (stopping.signal.aborted) return;
    let atMs = lookAtMs;
    if (lease) for (const task of followed.values()) if (!task.isPolling) atMs = Math.min(atMs, task.dueAtMs);
    timer?.stop();
    timer = clock.startTimer(Math.max(0, atMs - clock.nowMs()), tick);
  };

  const run = (id: string, task: Followed): void => {
    task.isPolling = true;
    const done: Promise<void> = pollOnce(id, task).finally(() => {
      task.isPolling = false;
      polling.delete(done);
      arm();
    });
    polling.add(done);
  };

  const pollOnce = async (id: string, task: Followed): Promise<void> => {
    let entry: LedgerEntry<TaskRecord> | undefined;
    try {
      entry = await ledger.get(id);
    } catch (error) {
      // The task goes on where it runs; the store is asked again with the next look at it.
      log.warn({ task: id, reason: messageOf(error) }, 'a background task could not be read from the store');
      task.dueAtMs = clock.nowMs() + waitOf(task);
      return;
    }
    if (!entry || entry.settlement) {
      followed.delete(id);
      return;
    }
    try {
      const step = await ask(entry);
      if (step.isOver) return await end(entry, step.as, step.outcome);
      task.failures = 0;
      task.slowness = step.pollIntervalMs === undefined ? task.slowness + 1 : 0;
      task.intervalMs = step.pollIntervalMs;
      const isChanged = Object.entries(step.change).some(
        ([key, value]) => JSON.stringify(value) !== JSON.stringify(entry.value[key as keyof TaskRecord]),
      );
      if (isChanged) await ledger.update(id, (record) => ({ ...record, ...mergedChange(record, step.change) }));
    } catch (error) {
      if (stopping.signal.aborted) return;
      await failed(entry, task, error);
    }
    task.dueAtMs = clock.nowMs() + waitOf(task);
  };

  const ask = async (entry: LedgerEntry<TaskRecord>): ReturnType<PollTask> => {
    const { id, value } = entry;
    const server = servers.get(value.server.toLowerCase());
    using deadline = startDeadline(clock, pollBudgetMs, { signal: stopping.signal });
    const { signal } = deadline;
    if (!server) return lost(`Server "${value.server}" is not configured any more.`);
    const hold = openHold(store.secrets, id, value.sealed);
    // Leased anew each time, so reconnects do not matter.
    using held = server.lease() ?? (await server.leaseConnected({ signal }));
    if (clock.nowMs() < value.deadlineAtMs) return await poll(entry, hold, held.snapshot, signal);
    const minutes = Math.round((value.deadlineAtMs - value.startedAtMs) / 60_000);
    await cancelTask(held.snapshot, hold.taskId, signal).catch((error: unknown) =>
      log.warn({ task: id, reason: messageOf(error) }, 'a server could not be told to cancel a task'),
    );
    const text = `The task gave no result within ${minutes} minutes, the most it may take, and was cancelled.`;
    return { isOver: true, as: 'timeout', outcome: failedOutcome('timeout', text) };
  };

  const failed = async (entry: LedgerEntry<TaskRecord>, task: Followed, error: unknown): Promise<void> => {
    const { id, value } = entry;
    const mask = servers.get(value.server.toLowerCase())?.maskSecrets;
    const fault = toConnectionFault(error, { hadSession: false, mask });
    task.failures += 1;
    task.slowness += 1;
    log.debug({ task: id, failures: task.failures, reason: fault.message }, 'a background task could not be polled');
    // The server answered, and does not know the task.
    const isUnknown = fault.kind === 'refused';
    const isUnreadable = GantryError.is(error) && error.code === 'secret_unreadable';
    if (!isUnknown && !isUnreadable && task.failures < pollFailureLimit && clock.nowMs() < value.deadlineAtMs) return;
    const why = isUnknown
      ? `Server "${value.server}" does not know the task any more: ${fault.message}`
      : `The task was lost: ${fault.message}`;
    const { as, outcome } = lost(`${why.replace(/\.$/, '')}. Whether the tool finished is unknown.`);
    await end(entry, as, outcome);
  };

  const end: TaskRunner['end'] = async (entry, as, outcome) => {
    const { id, value } = entry;
    const { session: namespace, server, tool } = value;
    try {
      // Told before it is settled: after a crash in between it is told once more.
      await deliver({ namespace, kind: 'task', id, server, tool, outcome });
      await settle(id, as);
      followed.delete(id);
    } catch (error) {
      log.error(
        { task: id, reason: messageOf(error) },
        'the result of a background task could not be delivered; it is tried again',
      );
    }
  };

  return {
    start: () => tick(),
    follow: (id, pollIntervalMs) => {
      if (!lease) return;
      note(id, pollIntervalMs);
      arm();
    },
    wake: (id) => {
      const task = followed.get(id);
      if (!task) return;
      task.dueAtMs = clock.nowMs() + pollMinMs;
      task.slowness = 0;
      arm();
    },
    end,
    [Symbol.asyncDispose]: async () => {
      stopping.abort(new GantryError('stopped', 'Gantry is stopping.'));
      timer?.stop();
      await looking;
      await Promise.all(polling);
      timer?.stop();
      // Else another process waits until it runs out.
      if (lease)
        await store.leases.release(lease).catch((error: unknown) => {
          log.debug({ reason: messageOf(error) }, 'the lease on background tasks could not be given back');
        });
    },
  };
};

/** Keys that were answered meanwhile from elsewhere stay answered. */
const mergedChange = (record: TaskRecord, change: Partial<TaskRecord>): Partial<TaskRecord> =>
  change.answeredKeys
    ? { ...change, answeredKeys: [...new Set([...record.answeredKeys, ...change.answeredKeys])] }
    : change;

const lost = (text: string): { readonly isOver: true; readonly as: TaskEnd; readonly outcome: Outcome } => ({
  isOver: true,
  as: 'lost',
  outcome: failedOutcome('execution_failed', text),
});
