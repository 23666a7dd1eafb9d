import { fakeClock } from '../../../../packages/gantry/src/testing/fake-clock.ts';
import { differences } from '../../lib/compare.ts';
import { asText } from '../../lib/read-cases.ts';
import type { Handler } from '../../lib/verdict.ts';
import { refuseUnread } from '../../lib/verdict.ts';
import { isoOf } from './planned.ts';
import { openSchedule } from './run-schedule.ts';

const policies = { skip: 'skip', once: 'run-once' } as const;

/** A host that was away → what it makes up for, and when the task runs next. */
export const scheduleRestart: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['cron', 'timeZone', 'lastRun', 'hostBackAt', 'policies']);
  refuseUnread(expect, 'the expectation', [...Object.values(policies), 'missedShown']);
  const problems: string[] = [];
  for (const missed of ['skip', 'once'] as const) {
    const clock = fakeClock(Date.parse(asText(input['lastRun'])));
    await using host = await openSchedule(clock);
    let runsAtStart = 0;
    const act = async () => {
      runsAtStart += 1;
      return { status: 'done', text: 'ok' } as const;
    };
    const before = await host.start(act);
    await before.add({ name: 'task', description: 'Do it.', cron: asText(input['cron']), missed });
    await before[Symbol.asyncDispose]();
    await clock.advance(Date.parse(asText(input['hostBackAt'])) - clock.nowMs());
    await using after = await host.start(act);
    const next = isoOf((await after.get('task'))?.nextRunMs ?? 0);
    const [record] = await after.history('task');
    problems.push(
      ...differences(missed, { runsAtStart, next }, expect[policies[missed]]),
      ...differences(`${missed}, missed runs shown`, record?.missedCount, expect['missedShown']),
    );
  }
  return problems;
};
