import type { ToolGuide } from '../tool/guide.ts';

/** The usage guide of the scheduling tools. */
export const scheduleGuide: ToolGuide = {
  name: 'scheduling',
  summary: 'Do work later: repeatedly by cron, or once at a time.',
  getDocument: () => document,
};

const document = `# Scheduled tasks

## Tools

| Tool | Use |
|---|---|
| \`schedule_task(name, cron, description, run_once?)\` | Repeat by cron; with \`run_once\` only the first time. |
| \`schedule_task(name, at, description)\` | Once, at one moment. |
| \`list_scheduled_tasks()\` | The current time, the time zone, and all tasks with their next runs. |
| \`cancel_scheduled_task(name)\` | Remove a task. |

The description is the whole prompt of the later run: it has no memory of this conversation. Say what to do, for whom, and where the
result goes. Scheduling under an existing name (case does not matter) replaces that task.

## Once

Prefer \`at\`: \`"2026-05-01T09:00:00"\` is wall time in the time zone of the task; add \`Z\` or an offset to mean another. With cron,
set \`run_once: true\`, pin every field to the moment and write \`*\` as day of week: \`0 30 14 24 12 *\`. The task is removed after it ran.

For "in two hours", call \`list_scheduled_tasks\` first and reckon from the time it shows. A time that has passed is refused.

## Cron

- 5 fields: minute, hour, day of month, month, day of week. \`0 9 * * 1-5\` is 9:00 on weekdays, \`*/15 * * * *\` every 15 minutes.
- 6 fields: the second comes first, for precision below a minute. \`0 0 9 * * 1-5\` is 9:00:00 on weekdays.
- \`*\`, lists \`1,15\`, ranges \`1-5\`, steps \`*/10\` or \`5-59/15\`, names \`JAN\`-\`DEC\` and \`SUN\`-\`SAT\`; 0 and 7 are Sunday; \`?\` is the same as \`*\`.
- \`L\` as day of month is the last day; \`5L\` the last Friday; \`5#2\` the second Friday; \`15W\` the weekday nearest to the 15th.
- Day of month and day of week both set: it runs when either matches. \`0 0 13 * 5\` is every 13th and every Friday.
- A month without the 31st has no run on \`31\`. A date that never comes is refused. Aliases such as \`@daily\` are not supported.

## Time zones

\`time_zone\` takes an IANA name such as \`Europe/Berlin\`; without it the default zone counts. A fixed time that is skipped in spring
runs at the change, and one that comes twice in autumn runs the first time only; intervals such as \`*/30 * * * *\` go on evenly.

## Runs

- A task never runs twice at the same time: what falls into a long run is left out, and the history says so.
- Missed while the program was off: a task that runs once still runs if it is less than 24 hours late; a repeated one waits for its
  next time, or makes up for all of them with one run when it was scheduled with \`missed: "once"\`.
- A run that fails is not repeated before its next time.
`;
