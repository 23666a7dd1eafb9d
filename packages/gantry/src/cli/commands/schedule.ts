import { GantryError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isObject, parseJson } from '../../kernel/json.ts';
import type { ScheduleAdded } from '../../operations/schedule-add.ts';
import { scheduleAdd } from '../../operations/schedule-add.ts';
import type { ScheduledTaskInfo } from '../../operations/schedule-shapes.ts';
import type { ScheduleShown } from '../../operations/schedule.ts';
import { scheduleCancel, scheduleList, scheduleShow } from '../../operations/schedule.ts';
import { durationText } from '../../schedule/parse-at.ts';
import { formatTime } from '../../schedule/time-zone.ts';
import type { Command } from '../command-context.ts';
import { openGateway } from '../gateway.ts';
import { toCell } from '../output/printable.ts';
import type { Printer } from '../output/printer.ts';
import { createPrinter } from '../output/printer.ts';

/** How `schedule add` is told when, and what. */
export interface AddTaskFlags {
  readonly cron?: string | undefined;
  readonly at?: string | undefined;
  readonly timeZone?: string | undefined;
  readonly once?: boolean | undefined;
  readonly missed?: 'skip' | 'once' | undefined;
  readonly prompt?: string | undefined;
  readonly tool?: string | undefined;
  readonly args?: string | undefined;
  readonly workspace?: string | undefined;
}

const withoutServers = { needs: 'none' } as const;

/** `gantry schedule list` */
export const listTasks: Command<[]> = async (context) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context, withoutServers);
  const found = await gateway.run(scheduleList, {});
  const hasWorkspaces = found.tasks.some((task) => task.workspace !== null);
  printer.result(found, () =>
    found.tasks.length === 0
      ? 'No tasks are scheduled.'
      : printer.table(
          ['NAME', ...(hasWorkspaces ? ['WORKSPACE'] : []), 'WHEN', 'NEXT RUN', 'WHAT'],
          found.tasks.map((task) => [
            task.name,
            ...(hasWorkspaces ? [task.workspace ?? ''] : []),
            whenOf(task),
            nextOf(task),
            whatOf(task),
          ]),
        ),
  );
  return 0;
};

/** `gantry schedule show NAME` */
export const showTask: Command<[string, { workspace?: string }]> = async (context, name, { workspace }) => {
  const printer = createPrinter(context);
  await using gateway = await openGateway(context, withoutServers);
  const shown = await gateway.run(scheduleShow, { name, workspace });
  printer.result(shown, () => describe(name, shown, printer));
  return 0;
};

/** `gantry schedule add NAME (--cron EXPR or --at TIME) (--prompt TEXT or --tool NAME --args JSON)` */
export const addTask: Command<[string, AddTaskFlags]> = async (context, name, { args, ...flags }) => {
  const printer = createPrinter(context);
  if ((flags.cron === undefined) === (flags.at === undefined))
    throw usage(
      'Give either "--cron EXPR", for example "0 9 * * 1-5", or "--at TIME", for example 2026-05-01T09:00:00.',
    );
  if ((flags.prompt === undefined) === (flags.tool === undefined))
    throw usage('Give either "--prompt TEXT" or "--tool NAME", and "--args JSON" with a tool that takes arguments.');
  if (args !== undefined && flags.tool === undefined) throw usage('"--args" goes with "--tool" only.');
  const input = { ...flags, name, arguments: args === undefined ? undefined : toArguments(args) };
  await using gateway = await openGateway(context, {
    needs: flags.tool === undefined ? 'none' : { tool: flags.tool },
  });
  const added = await gateway.run(scheduleAdd, input);
  printer.result(added, () => tell(added, context.io.clock.nowMs()));
  for (const note of added.notes) printer.note(`Note: ${toCell(note)}`);
  if (gateway.url === undefined)
    printer.note('Note: No gateway runs on this data folder; tasks run while one does ("gantry serve").');
  return 0;
};

/** `gantry schedule cancel NAME` */
export const cancelTask: Command<[string, { workspace?: string }]> = async (context, name, { workspace }) => {
  await using gateway = await openGateway(context, withoutServers);
  const cancelled = await gateway.run(scheduleCancel, { name, workspace });
  createPrinter(context).result(cancelled, () => `Task "${toCell(cancelled.cancelled)}" is cancelled.`);
  return 0;
};

const tell = ({ task, replaced }: ScheduleAdded, nowMs: number): string => {
  const inHowLong = task.nextRunAt === null ? '' : `, in ${durationText(Date.parse(task.nextRunAt) - nowMs)}`;
  return `Task "${toCell(task.name)}" is ${replaced ? 'replaced' : 'scheduled'}. Next run: ${nextOf(task)}${inHowLong}.`;
};

const describe = (name: string, { task, history }: ScheduleShown, printer: Printer): string => {
  const lines = task
    ? [printer.style('bold', toCell(task.name)), ...factsOf(task), '', printer.foreign(task.description)]
    : [`There is no task "${toCell(name)}" any more; these are its last runs.`];
  if (history.length === 0) return [...lines, '', 'It has not run yet.'].join('\n');
  const table = printer.table(
    ['STARTED', 'STATUS', 'RESULT'],
    history.map((run) => [
      formatTime(Date.parse(run.startedAt ?? run.scheduledAt), task?.timeZone ?? 'UTC'),
      run.status,
      run.skippedCount === 0 ? run.text : `${run.text} (${run.skippedCount} left out meanwhile)`,
    ]),
  );
  return [...lines, '', table].join('\n');
};

const factsOf = (task: ScheduledTaskInfo): string[] => {
  const facts: [string, string | null][] = [
    ['workspace', task.workspace],
    ['when', whenOf(task)],
    ['time zone', task.timeZone],
    ['next run', nextOf(task)],
    ['missed runs', task.cron === null || task.once ? null : task.missed === 'once' ? 'made up once' : 'skipped'],
    ['tool', task.tool],
    ['arguments', task.arguments === undefined ? null : JSON.stringify(task.arguments)],
    ['set by', task.isSystemTask ? 'the program itself' : null],
  ];
  return facts.flatMap(([label, value]) => (value === null ? [] : [`${label}: ${toCell(value)}`]));
};

const whenOf = ({ cron, once }: ScheduledTaskInfo): string => {
  if (cron === null) return 'once';
  return once ? `${cron} (once)` : cron;
};

const nextOf = ({ isRunning, nextRunAt, timeZone }: ScheduledTaskInfo): string => {
  if (isRunning) return 'running now';
  return nextRunAt === null ? 'never again' : formatTime(Date.parse(nextRunAt), timeZone);
};

const whatOf = ({ tool, description }: ScheduledTaskInfo): string => (tool === null ? description : `calls ${tool}`);

const toArguments = (text: string): JsonObject => {
  const parsed = parseJson(text);
  if (parsed.ok && isObject(parsed.value)) return parsed.value as JsonObject;
  const problem = parsed.ok ? 'is no JSON object' : `is not JSON: ${parsed.reason}`;
  throw usage(`"--args" ${problem}; write an object such as '{"text":"hi"}'.`);
};

const usage = (message: string): GantryError => new GantryError('usage', message);
