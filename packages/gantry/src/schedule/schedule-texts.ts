import { flattenText } from '../text/flatten.ts';
import { durationText } from './parse-at.ts';
import type { TaskView } from './scheduled-task.ts';
import type { AddedTask } from './scheduler.ts';
import { formatTime } from './time-zone.ts';

const mostListed = 200;

/** Tells what was scheduled, when it runs first, and what may surprise. */
export const describeAdded = (added: AddedTask, nowMs: number): string => {
  const { task, nextRunMs, zone, notes, replaced } = added;
  const which = replaced ? 'Replaced the task' : 'Scheduled';
  const when = task.cron === undefined ? 'one time' : `cron \`${task.cron}\`${task.runOnce ? ', one time' : ''}`;
  const zoneOrigin = task.timeZone === undefined ? ' Times are in the default time zone.' : '';
  return [
    `${which} "${task.name}": ${when}.`,
    `Next run: ${formatTime(nextRunMs, zone)}, in ${durationText(nextRunMs - nowMs)}.${zoneOrigin}`,
    nowText(nowMs, zone),
    ...notes.map((note) => `Note: ${note}`),
  ].join('\n');
};

/** The current time with the zone, and a table of the tasks. */
export const describeTasks = (tasks: readonly TaskView[], zone: string, nowMs: number): string => {
  const now = nowText(nowMs, zone);
  if (tasks.length === 0) return `${now}\nNo tasks are scheduled.`;
  const shown = tasks.slice(0, mostListed).map((task) => {
    const cells = [
      cell(task.name),
      task.cron === undefined ? 'at a fixed time' : `\`${task.cron}\``,
      nextText(task),
      task.runOnce ? 'yes' : 'no',
      cell(task.description),
      task.lastFiredAtMs === undefined ? 'never' : formatTime(task.lastFiredAtMs, task.zone),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const more = tasks.length - shown.length;
  return [
    now,
    '',
    '| Name | Cron | Next run | Once | Description | Last run |',
    '|---|---|---|---|---|---|',
    ...shown,
    ...(more > 0 ? [`And ${more} more.`] : []),
  ].join('\n');
};

/** Says that there is no such task, and which come close. */
export const describeUnknown = (name: string, near: readonly string[]): string => {
  const hint =
    near.length > 0
      ? ` Did you mean ${near.map((known) => `"${known}"`).join(', ')}?`
      : ' list_scheduled_tasks shows what there is.';
  return `There is no task named "${flattenText(name, { maxChars: 100 })}".${hint}`;
};

const nowText = (nowMs: number, zone: string): string => `Now it is ${formatTime(nowMs, zone)}.`;

const nextText = (task: TaskView): string => {
  if (task.isRunning) return 'running now';
  return task.nextRunMs === undefined ? 'never again' : formatTime(task.nextRunMs, task.zone);
};

const cell = (text: string): string => flattenText(text, { maxChars: 200 });
