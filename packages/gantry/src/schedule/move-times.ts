import type { ScheduleShelf } from './schedule-shelf.ts';
import { adoptTask } from './run-task.ts';
import type { RunDeps } from './run-task.ts';

const zoneOfTimes = 'zone-of-times';
// How much is read and written at once.
const page = 500;

/**
 * Works stored times out anew where the agent's zone is another than the one they were worked out in. Reads every task, page by
 * page, and only when that is needed.
 *
 * @param betweenPages called after each page; what it throws ends the work, which begins anew the next time.
 */
export const moveTimes = async (
  deps: Pick<RunDeps, 'shelf' | 'clock' | 'log' | 'agentZone'>,
  betweenPages: () => Promise<void>,
): Promise<void> => {
  const { shelf } = deps;
  const zone = deps.agentZone();
  const before = await shelf.settings.get(zoneOfTimes);
  if (before?.value === zone) return;
  for (let after: string | undefined; ;) {
    const tasks: Awaited<ReturnType<ScheduleShelf['tasks']['list']>> = await shelf.tasks.list({ after, limit: page });
    await Promise.all(
      tasks.map(async ({ id, value, revision }) => {
        const isOfOtherZone = value.atMs === undefined && value.next.timeZone !== (value.timeZone ?? zone);
        // A run that goes on works out the next time itself.
        if (isOfOtherZone && !value.running) await adoptTask(id, value, revision, deps);
      }),
    );
    after = tasks.at(-1)?.id;
    if (tasks.length < page) break;
    await betweenPages();
  }
  await shelf.settings.put(zoneOfTimes, zone);
};
