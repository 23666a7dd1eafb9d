import { GantryError } from '../../../../packages/gantry/src/kernel/errors.ts';
import { isObject } from '../../../../packages/gantry/src/kernel/json.ts';
import { parseCron } from '../../../../packages/gantry/src/schedule/cron.ts';
import type { NewTask } from '../../../../packages/gantry/src/schedule/plan-task.ts';
import { planTask } from '../../../../packages/gantry/src/schedule/plan-task.ts';
import { describeAdded } from '../../../../packages/gantry/src/schedule/schedule-texts.ts';
import { differences, isSame, shown, unless } from '../../lib/compare.ts';
import { asText } from '../../lib/read-cases.ts';
import { NotCovered } from '../../lib/verdict.ts';

/** What became of a request: refused with a message, or planned, with the first times and the answer to the caller. */
export type Planned =
  | { readonly refused: string }
  | { readonly times: readonly string[]; readonly answer: string; readonly notes: string };

/** Times as the cases write them. */
export const isoOf = (timeMs: number): string => new Date(timeMs).toISOString().replace('.000Z', 'Z');

/** Plans a task and works out its first times. */
export const plan = (request: Partial<NewTask>, options: { nowMs: number; zone: string; count: number }): Planned => {
  const { nowMs, zone: agentZone, count } = options;
  try {
    const planned = planTask({ name: 'task', description: 'Do it.', ...request }, { nowMs, agentZone });
    const { nextRunMs, zone, notes, task } = planned;
    const times = [nextRunMs];
    while (task.cron !== undefined && times.length < count) {
      const next = parseCron(task.cron, zone).nextAfter(times.at(-1) ?? nowMs);
      if (next === undefined) break;
      times.push(next);
    }
    return {
      times: times.map(isoOf),
      answer: describeAdded({ ...planned, replaced: false }, nowMs),
      notes: notes.join(' '),
    };
  } catch (error) {
    if (!GantryError.is(error) || error.code !== 'invalid_arguments') throw error;
    return { refused: error.message };
  }
};

const isoTime = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z/;

/** Judges one request by what a case says in its own words: `refused`, a time, a list of times, or either of several. */
export const judgePlanned = (subject: string, planned: Planned, expected: unknown): string[] => {
  const came = 'refused' in planned ? `refused: ${planned.refused}` : planned.times;
  if (isObject(expected) && Array.isArray(expected['oneOf'])) {
    const all = expected['oneOf'].map((one) => judgePlanned(subject, planned, one));
    return all.some((problems) => problems.length === 0)
      ? []
      : [`${subject}: expected ${shown(expected)}, came ${shown(came)}`];
  }
  if (isObject(expected) && typeof expected['next'] === 'string')
    return 'refused' in planned
      ? [`${subject}: expected ${shown(expected['next'])}, came ${shown(came)}`]
      : [
          ...differences(subject, planned.times[0], expected['next']),
          ...unless(
            asText(expected['shown'] ?? '')
              .split(/ |\(or |\)/)
              .filter(Boolean)
              .some((part) => planned.answer.includes(part)),
            `${subject}: the answer shows the zone`,
            planned.answer,
          ),
        ];
  if (Array.isArray(expected))
    return 'refused' in planned
      ? [`${subject}: expected ${shown(expected)}, came ${shown(came)}`]
      : expected.flatMap((time, index) =>
          Array.isArray(time)
            ? unless(
                time.some((one) => isSame(planned.times[index], one)),
                `${subject}: one of ${shown(time)}`,
                planned.times[index],
              )
            : differences(`${subject}, time ${index + 1}`, planned.times[index], time),
        );
  if (typeof expected !== 'string') throw new NotCovered(`${subject} expects ${shown(expected)}`);
  const mayRefuse = expected.includes('refused');
  if ('refused' in planned) {
    if (!mayRefuse) return [`${subject}: expected ${shown(expected)}, came ${shown(came)}`];
    return /current time|same/.test(expected)
      ? unless(/Now it is \d{4}/.test(planned.refused), `${subject}: the message has the current time`, came)
      : [];
  }
  const [time] = isoTime.exec(expected) ?? [];
  if (time !== undefined) return differences(subject, planned.times[0], time);
  if (expected === 'scheduled') return [];
  if (expected.startsWith('default zone is named'))
    return unless(/\(\w+/.test(planned.answer), subject, planned.answer);
  return [`${subject}: expected ${shown(expected)}, came ${shown(came)}`];
};
