import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../kernel/json.ts';
import { silentLog } from '../kernel/log.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { FakeClock } from '../testing/fake-clock.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import { testKeyring } from '../testing/test-keyring.ts';
import type { CallContext } from '../tool/context.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import { scheduleGuide } from './schedule-guide.ts';
import { scheduleTools } from './schedule-tools.ts';
import type { Scheduler } from './scheduler.ts';
import { createScheduler } from './scheduler.ts';

let clock: FakeClock;
let store: Store;
let scheduler: Scheduler;
let call: (name: string, args?: JsonObject, context?: CallContext) => Promise<string>;
beforeEach(async () => {
  clock = fakeClock(Date.parse('2026-05-01T07:07:00Z'));
  store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  scheduler = createScheduler({
    store,
    clock,
    log: silentLog,
    timeZone: 'Europe/Berlin',
    act: async () => ({ status: 'done', text: 'ok' }),
  });
  const invoker = makeInvoker(registryOf(...scheduleTools(scheduler, { clock, warning: 'No model.' })), { clock });
  call = async (name, args = {}, context = { caller: 'model', namespace: 'session/1' }) => {
    const outcome = await invoker.invoke({ name, arguments: args }, context);
    return `${outcome.status === 'failed' ? `${outcome.failure.code}: ` : ''}${outcomeText(outcome)}`;
  };
});
afterEach(async () => {
  await scheduler[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});
const report = { name: 'report', description: 'Write it | now.' };

describe('schedule_task', () => {
  it('answers with the line, the next run, the zone and the current time', async () => {
    expect(await call('schedule_task', { ...report, cron: '0  9 * * 1-5' })).toBe(
      [
        'Scheduled "report": cron `0 9 * * 1-5`.',
        'Next run: 2026-05-04 09:00:00 (Europe/Berlin, UTC+02:00), in 2 d 23 h. Times are in the default time zone.',
        'Now it is 2026-05-01 09:07:00 (Europe/Berlin, UTC+02:00).',
        'Note: No model.',
      ].join('\n'),
    );
    expect(await call('schedule_task', { ...report, name: 'REPORT', at: '2026-05-01T10:00:00Z' })).toContain(
      'Replaced the task "REPORT": one time.',
    );
  });

  it.each<[JsonObject]>([[{ run_once: true }], [{ runOnce: true }], [{ run_once: 'true' }]])(
    'takes %j',
    async (once) => {
      expect(await call('schedule_task', { ...report, cron: '0 9 * * *', ...once })).toContain(', one time.');
    },
  );

  it('uses the zone of the task, and says what may surprise', async () => {
    const text = await call('schedule_task', { ...report, cron: '0 0 13 * 5', time_zone: 'Asia/Kathmandu' });
    expect(text).toContain('Next run: 2026-05-08 00:00:00 (Asia/Kathmandu, UTC+05:45)');
    expect(text).toContain('either the day of month or the day of week matches');
    expect(text).not.toContain('default time zone');
  });

  it.each<[JsonObject, string]>([
    [{ cron: '0 9 * *' }, 'has 4 fields'],
    [{ cron: '' }, 'The cron expression is empty'],
    [{ cron: '0 0 31 2 *' }, 'never matches a date'],
    [{ at: '2026-05-01T09:00:00' }, 'Now it is 2026-05-01 09:07:00 (Europe/Berlin'],
    [{ cron: '0 9 * * *', time_zone: 'Mars/Base' }, 'There is no time zone "Mars/Base"'],
    [{ cron: [1] }, 'cron'],
    [{}, 'Give either cron'],
  ])('refuses %j and stores nothing', async (args, why) => {
    const text = await call('schedule_task', { ...report, ...args });
    expect(text).toMatch(/^invalid_arguments: /);
    expect(text).toContain(why);
    expect(await scheduler.list()).toEqual([]);
  });

  it('takes the empty texts that models give for what they do not use', async () => {
    expect(await call('schedule_task', { ...report, cron: '', at: '2026-05-02T09:00:00', time_zone: '' })).toContain(
      'Scheduled "report": one time.',
    );
    expect(await call('schedule_task', { ...report, cron: '0 9 * * *', at: '' })).toContain('cron `0 9 * * *`');
  });
});

describe('list_scheduled_tasks', () => {
  it('shows time and zone when there is nothing', async () => {
    expect(await call('list_scheduled_tasks')).toBe(
      'Now it is 2026-05-01 09:07:00 (Europe/Berlin, UTC+02:00).\nNo tasks are scheduled.',
    );
  });

  it('shows a table', async () => {
    await scheduler.add({ ...report, cron: '0 9 * * *' });
    await scheduler.add({ ...report, name: 'once', at: '2026-05-01T10:00:00', timeZone: 'UTC' });
    expect(await call('list_scheduled_tasks')).toBe(
      [
        'Now it is 2026-05-01 09:07:00 (Europe/Berlin, UTC+02:00).',
        '',
        '| Name | Cron | Next run | Once | Description | Last run |',
        '|---|---|---|---|---|---|',
        '| once | at a fixed time | 2026-05-01 10:00:00 (UTC) | yes | Write it / now. | never |',
        '| report | `0 9 * * *` | 2026-05-02 09:00:00 (Europe/Berlin, UTC+02:00) | no | Write it / now. | never |',
      ].join('\n'),
    );
  });

  it('shows a caller the tasks of its workspace, and an operator all', async () => {
    await scheduler.add({ ...report, name: 'theirs', cron: '0 9 * * *', workspace: 'a' });
    expect(await call('list_scheduled_tasks')).not.toContain('theirs');
    expect(await call('list_scheduled_tasks', {}, { caller: 'model', workspace: 'b' })).not.toContain('theirs');
    expect(await call('list_scheduled_tasks', {}, { caller: 'model', workspace: 'a' })).toContain('theirs');
    expect(await call('list_scheduled_tasks', {}, { caller: 'operator' })).toContain('theirs');
  });
});

describe('cancel_scheduled_task', () => {
  it('cancels, and says when there is nothing to cancel', async () => {
    await scheduler.add({ ...report, cron: '0 9 * * *' });
    expect(await call('cancel_scheduled_task', { name: 'reprot' })).toBe(
      'There is no task named "reprot". Did you mean "report"?',
    );
    expect(await call('cancel_scheduled_task', { name: 'Report' })).toBe('Cancelled "report".');
    expect(await call('cancel_scheduled_task', { name: 'report' })).toContain('There is no task named "report".');
  });

  it('leaves the tasks of the system alone', async () => {
    await scheduler.add({ ...report, cron: '0 9 * * *', isSystemTask: true });
    expect(await call('cancel_scheduled_task', { name: 'report' })).toContain('is a task of the system');
    expect(await call('schedule_task', { ...report, cron: '0 8 * * *' })).toContain('is a task of the system');
    expect(await scheduler.list()).toMatchObject([{ cron: '0 9 * * *' }]);
  });
});

it('names every tool and both cron forms in the guide', () => {
  const text = scheduleGuide.getDocument();
  for (const tool of scheduleTools(scheduler, { clock })) expect(text).toContain(tool.registration.name);
  expect(text).toContain('5 fields');
  expect(text).toContain('6 fields');
});
