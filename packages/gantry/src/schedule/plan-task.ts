import { GantryError } from '../kernel/errors.ts';
import { flattenText } from '../text/flatten.ts';
import { normalizeCron, parseCron } from './cron.ts';
import { cronNotes } from './explain-cron.ts';
import { durationText, parseAt } from './parse-at.ts';
import type { ScheduledTask, ToolAction } from './scheduled-task.ts';
import { formatTime, parseTimeZone } from './time-zone.ts';

/** What somebody wants scheduled. Exactly one of `cron` and `at`. */
export interface NewTask {
  readonly name: string;
  readonly description: string;
  readonly cron?: string | undefined;
  /** ISO time; without an offset it is wall time in the zone. Runs once. */
  readonly at?: string | undefined;
  /** IANA name or offset; default the agent's zone. */
  readonly timeZone?: string | undefined;
  readonly runOnce?: boolean | undefined;
  readonly missed?: 'skip' | 'once' | undefined;
  readonly workspace?: string | undefined;
  readonly isSystemTask?: boolean | undefined;
  readonly action?: ToolAction | undefined;
}

/** A request that makes sense, and what its author should know. */
export interface TaskPlan {
  readonly task: ScheduledTask;
  readonly nextRunMs: number;
  readonly zone: string;
  readonly notes: readonly string[];
}

const maxNameChars = 100;
const dayMs = 86_400_000;

/**
 * Checks a request and works out the first run.
 * @throws {GantryError} `invalid_arguments`: a name that is none, a line or time that cannot be read, a zone that does not exist,
 * or a time that never comes or has passed.
 */
export const planTask = (request: NewTask, options: { nowMs: number; agentZone: string }): TaskPlan => {
  const { nowMs, agentZone } = options;
  const { missed = 'skip', workspace, isSystemTask, action } = request;
  const name = toTaskName(request.name);
  const description = request.description.trim();
  if (description === '')
    throw invalid('description is blank; say what is to be done, with everything needed to do it later.');
  if ((request.cron === undefined) === (request.at === undefined))
    throw invalid(
      'Give either cron (for example "0 9 * * 1-5") or at (one moment, for example "2026-05-01T09:00:00"), not both and not neither.',
    );
  const timeZone = request.timeZone === undefined ? undefined : parseTimeZone(request.timeZone);
  const zone = timeZone ?? agentZone;
  const shared = { name, description, timeZone, missed, workspace, isSystemTask, action, createdAtMs: nowMs };

  if (request.cron === undefined) {
    const atMs = parseAt(request.at as string, zone, nowMs);
    return { task: { ...shared, atMs, runOnce: true }, nextRunMs: atMs, zone, notes: [] };
  }
  const cron = normalizeCron(request.cron);
  const line = parseCron(cron, zone);
  const nextRunMs = line.nextAfter(nowMs);
  if (nextRunMs === undefined)
    throw invalid(
      `Cron expression "${cron}" never matches a date: those months do not have that day (there is no 30 February and no 31 April). Use "L" as day of month for the last day.`,
    );
  const runOnce = request.runOnce ?? false;
  if (runOnce) refusePassed(cron, line.lastBefore(nowMs), { nextRunMs, nowMs, zone });
  return { task: { ...shared, cron, runOnce }, nextRunMs, zone, notes: cronNotes(cron) };
};

/** A pinned date that has just passed would come again in a year, which is never what was meant. */
const refusePassed = (
  cron: string,
  lastMs: number | undefined,
  { nextRunMs, nowMs, zone }: { nextRunMs: number; nowMs: number; zone: string },
): void => {
  if (lastMs === undefined || nowMs - lastMs > dayMs || nextRunMs - nowMs < 300 * dayMs) return;
  throw invalid(
    `The time of "${cron}" has passed ${durationText(nowMs - lastMs)} ago and comes again only at ${formatTime(nextRunMs, zone)}. Now it is ${formatTime(nowMs, zone)}; give a time in the future.`,
  );
};

/** The first occurrence of a task after a time; undefined when none is left. */
export const nextOccurrence = (task: ScheduledTask, zone: string, afterMs: number): number | undefined => {
  if (task.cron !== undefined) return parseCron(task.cron, zone).nextAfter(afterMs);
  return task.atMs !== undefined && task.atMs > afterMs ? task.atMs : undefined;
};

/** How far occurrences are counted that were missed or left out. */
export const mostCounted = 1000;

/** Occurrences of a task after one time up to another, at most {@link mostCounted}. */
export const occurrencesBetween = (task: ScheduledTask, zone: string, afterMs: number, upToMs: number): number[] =>
  task.cron === undefined ? [] : parseCron(task.cron, zone).between(afterMs, upToMs, mostCounted);

// Names become namespaces and file names, so they must not look like paths.
const toTaskName = (text: string): string => {
  const name = text.trim().normalize('NFC');
  if (name !== '' && name.length <= maxNameChars && !/^\.|[/\\\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/u.test(name)) return name;
  throw invalid(
    `name "${flattenText(name, { maxChars: 60 })}" cannot be used: give 1 to ${maxNameChars} characters without slashes or line breaks that do not begin with a dot, for example "daily-report".`,
  );
};

const invalid = (message: string): GantryError => new GantryError('invalid_arguments', message);
