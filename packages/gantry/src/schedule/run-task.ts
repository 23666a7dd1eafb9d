import type { Clock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { cutText } from '../text/cut.ts';
import { scrubText } from '../text/scrub.ts';
import { durationText } from './parse-at.ts';
import { nextOccurrence, occurrencesBetween } from './plan-task.ts';
import type { RunAction, RunResult } from './run-action.ts';
import type { ScheduleShelf } from './schedule-shelf.ts';
import type { RunRecord, RunStatus, StoredTask } from './scheduled-task.ts';
import { formatTime } from './time-zone.ts';

/** What one run works with while its process owns the schedule. */
export interface RunDeps {
  /** Behind the owner's lease: what is written here is refused once another process owns the schedule. */
  readonly shelf: ScheduleShelf;
  readonly fence: number;
  readonly clock: Clock;
  readonly log: Log;
  readonly act: RunAction;
  agentZone(): string;
  /** A run that starts later than this was missed; longer than it takes another process to become the owner. */
  readonly graceMs: number;
  /** Aborts when this process stops or loses the schedule. */
  readonly signal: AbortSignal;
}

const onceLateMs = 24 * 3_600_000;
const retryMs = 120_000;
const mostRetries = 15;
const mostSkippedShown = 20;
const maxTextChars = 2000;

/**
 * Runs a due task: claims it, acts, writes how it ended and when it runs next. The claim is on disk before the action begins and is
 * never taken twice, so a run that is cut off is not repeated.
 *
 * @throws {GantryError} `lease_lost` when another process owns the schedule now; what the action did is then recorded by that one as
 * interrupted.
 */
export const runTask = async (id: string, noticedAtMs: number, deps: RunDeps): Promise<void> => {
  const { shelf, clock, log, fence, signal } = deps;
  const found = await shelf.tasks.get(id);
  if (!found || found.value.next.atMs > noticedAtMs || signal.aborted) return;
  const task = found.value;
  const zone = task.timeZone ?? deps.agentZone();
  const scheduledAtMs = task.retry?.scheduledAtMs ?? task.next.atMs;
  const lateMs = noticedAtMs - task.next.atMs;
  const isMissed = lateMs > deps.graceMs;
  const missedCount = isMissed ? countMissed(task, zone, scheduledAtMs, noticedAtMs) : undefined;
  const startedAtMs = clock.nowMs();
  try {
    if (isMissed && !(task.runOnce ? lateMs <= onceLateMs : task.missed === 'once')) {
      const text = `Not run: due at ${formatTime(scheduledAtMs, zone)}, noticed ${durationText(lateMs)} later.`;
      if (task.runOnce) log.warn({ task: task.name, lateMs }, 'a task that runs once was missed and is removed');
      const record: RunRecord = { status: 'missed', scheduledAtMs, endedAtMs: startedAtMs, text, missedCount };
      await close(id, task, found.revision, record, deps);
      return;
    }
    const running = { fence, scheduledAtMs, startedAtMs };
    await shelf.tasks.put(id, { ...task, running }, { ifRevision: found.revision });
  } catch (error) {
    if (isConflict(error)) return;
    throw error;
  }
  const note = missedCount === undefined ? undefined : lateNote(task, missedCount, formatTime(scheduledAtMs, zone));
  const { name: taskName, description, workspace, isSystemTask = false, action } = task;
  const namespace = `patrol/${workspace === undefined ? '' : `${workspace}/`}${taskName}`;
  const result = await deps.act(
    { taskName, description, isSystemTask, workspace, namespace, scheduledAtMs, note, signal },
    action,
  );
  await settle(id, { ...task, running: { fence, scheduledAtMs, startedAtMs } }, { result, missedCount }, deps);
};

/** Writes how a run ended, unless the task was replaced or cancelled meanwhile: then only its history says so. */
const settle = async (
  id: string,
  task: StoredTask & { readonly running: NonNullable<StoredTask['running']> },
  ended: { readonly result: RunResult; readonly missedCount: number | undefined },
  deps: RunDeps,
): Promise<void> => {
  const { shelf, clock, log, signal } = deps;
  const { scheduledAtMs, startedAtMs } = task.running;
  const { result, missedCount } = ended;
  const endedAtMs = clock.nowMs();
  const zone = task.timeZone ?? deps.agentZone();
  const found = await shelf.tasks.get(id);
  const revision = isSameRun(found?.value, task) ? found?.revision : undefined;
  const retries = task.retry?.count ?? 0;
  if (result.status === 'busy' && retries < mostRetries) {
    if (revision === undefined) return;
    const next = { atMs: endedAtMs + retryMs, timeZone: zone };
    const waiting = { ...task, next, retry: { count: retries + 1, scheduledAtMs }, running: undefined };
    await ignoreConflict(shelf.tasks.put(id, waiting, { ifRevision: revision }));
    return;
  }
  const status = statusOf(result, signal);
  // A missed run stands for all before it, so only what passed since it started was left out.
  const skipped = task.runOnce
    ? []
    : occurrencesBetween(task, zone, missedCount === undefined ? scheduledAtMs : startedAtMs, endedAtMs);
  const record: RunRecord = {
    status,
    scheduledAtMs,
    startedAtMs,
    endedAtMs,
    text: result.status === 'busy' ? `The agent was busy at each of ${mostRetries + 1} tries.` : shortened(result.text),
    missedCount,
    ...(skipped.length > 0 && { skippedCount: skipped.length, skippedAtMs: skipped.slice(0, mostSkippedShown) }),
  };
  const facts = { task: task.name, status, durationMs: endedAtMs - startedAtMs, skipped: skipped.length };
  if (status === 'done' || status === 'parked') log.info(facts, 'a scheduled task ran');
  else log.warn({ ...facts, reason: record.text }, 'a scheduled task did not run to its end');
  if (revision === undefined) return shelf.record(id, record);
  const hasFired = status === 'done' || status === 'failed' || status === 'parked';
  const fired = hasFired ? { ...task, lastFiredAtMs: startedAtMs } : task;
  await ignoreConflict(close(id, fired, revision, record, deps));
};

/** Ends an occurrence: moves the task to its next one, or removes it when there is none, and adds to its history. */
const close = async (
  id: string,
  task: StoredTask,
  revision: number,
  record: RunRecord,
  { shelf, clock, log, agentZone }: Pick<RunDeps, 'shelf' | 'clock' | 'log' | 'agentZone'>,
): Promise<void> => {
  const timeZone = task.timeZone ?? agentZone();
  const atMs = task.runOnce ? undefined : nextOccurrence(task, timeZone, clock.nowMs());
  if (atMs === undefined && !task.runOnce)
    log.warn({ task: task.name, cron: task.cron }, 'a scheduled task has no further occurrence and is removed');
  const write =
    atMs === undefined
      ? shelf.tasks.delete(id, { ifRevision: revision })
      : shelf.tasks.put(
          id,
          { ...task, next: { atMs, timeZone }, retry: undefined, running: undefined },
          { ifRevision: revision },
        );
  await Promise.all([write, shelf.record(id, record)]);
};

/** Puts a stored task right that a new owner finds: a run that was cut off is closed, a time of another zone is worked out anew. */
export const adoptTask = async (
  id: string,
  task: StoredTask,
  revision: number,
  deps: Pick<RunDeps, 'shelf' | 'clock' | 'log' | 'agentZone'>,
): Promise<void> => {
  const { shelf, clock, log } = deps;
  if (task.running) {
    log.warn({ task: task.name, runOnce: task.runOnce }, 'a scheduled run was cut off and is not repeated');
    const { scheduledAtMs, startedAtMs } = task.running;
    const text = 'The process that ran it ended or lost the schedule before the run was over; it is not repeated.';
    const record: RunRecord = { status: 'interrupted', scheduledAtMs, startedAtMs, endedAtMs: clock.nowMs(), text };
    return ignoreConflict(close(id, task, revision, record, deps));
  }
  const timeZone = task.timeZone ?? deps.agentZone();
  const atMs = nextOccurrence(task, timeZone, clock.nowMs());
  if (atMs === undefined) {
    log.warn({ task: task.name, cron: task.cron }, 'a scheduled task has no further occurrence and is removed');
    return ignoreConflict(shelf.tasks.delete(id, { ifRevision: revision }));
  }
  return ignoreConflict(shelf.tasks.put(id, { ...task, next: { atMs, timeZone } }, { ifRevision: revision }));
};

const countMissed = (task: StoredTask, zone: string, scheduledAtMs: number, nowMs: number): number =>
  Math.max(1, task.runOnce ? 1 : occurrencesBetween(task, zone, scheduledAtMs - 1, nowMs).length);

const lateNote = (task: StoredTask, missedCount: number, due: string): string =>
  missedCount === 1 || task.runOnce
    ? `This run comes late: it was due at ${due}.`
    : `This run comes late and stands for ${missedCount} that were missed, the first due at ${due}.`;

const statusOf = (result: RunResult, signal: AbortSignal): RunStatus =>
  result.status === 'failed' && signal.aborted ? 'interrupted' : result.status;

const isSameRun = (stored: StoredTask | undefined, { running, createdAtMs }: StoredTask): boolean =>
  stored?.createdAtMs === createdAtMs &&
  stored.running?.fence === running?.fence &&
  stored.running?.startedAtMs === running?.startedAtMs;

const shortened = (text: string): string => {
  const scrubbed = scrubText(text).trim();
  return scrubbed.length > maxTextChars ? `${cutText(scrubbed, maxTextChars)} …` : scrubbed;
};

const isConflict = (error: unknown): boolean => GantryError.is(error) && error.code === 'revision_conflict';

// Somebody replaced or cancelled the task in between, and their word counts.
const ignoreConflict = async (write: Promise<unknown>): Promise<void> => {
  try {
    await write;
  } catch (error) {
    if (!isConflict(error)) throw error;
  }
};
