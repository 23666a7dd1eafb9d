import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../kernel/log.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import { createScheduler } from '../schedule/scheduler.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../store/store.ts';
import type { FakeClock } from '../testing/fake-clock.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { makeOperationDeps } from '../testing/make-operation-deps.ts';
import { testKeyring } from '../testing/test-keyring.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { OperationDeps } from './operation-deps.ts';
import { parseInput } from './parse-input.ts';
import type { ScheduleAddInput, ScheduleAdded } from './schedule-add.ts';
import { scheduleAdd } from './schedule-add.ts';
import { scheduleCancel, scheduleList, scheduleShow } from './schedule.ts';

const report = defineTool({ name: 'write_report', description: 'Writes.', source: 'test', execute: () => 'written' });
let clock: FakeClock;
let store: Store;
let scheduler: Scheduler;
let deps: OperationDeps;
beforeEach(async () => {
  clock = fakeClock(Date.parse('2026-06-01T00:00:00Z'));
  store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  const act = async () => ({ status: 'done', text: 'all is well' }) as const;
  scheduler = createScheduler({ store, clock, log: silentLog, act, timeZone: 'Europe/Berlin' });
  deps = makeOperationDeps([report], { clock, schedule: { scheduler, promptNote: 'No model.' } });
});
afterEach(async () => {
  await scheduler[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

const add = async (input: ScheduleAddInput): Promise<ScheduleAdded> =>
  scheduleAdd.handler(parseInput(scheduleAdd, input), deps, {});

describe('schedule.add', () => {
  it('schedules a tool call by a cron line in the default zone', async () => {
    const added = await add({ name: 'Report', cron: '0 9 * * 1-5', tool: 'write_report', arguments: { to: '{task}' } });
    expect(scheduleAdd.output.parse(added)).toEqual(added);
    expect(added).toEqual({
      task: {
        name: 'Report',
        workspace: null,
        description: 'Calls write_report.',
        cron: '0 9 * * 1-5',
        at: null,
        timeZone: 'Europe/Berlin',
        once: false,
        missed: 'skip',
        tool: 'write_report',
        arguments: { to: '{task}' },
        nextRunAt: '2026-06-01T07:00:00.000Z',
        lastRunAt: null,
        isRunning: false,
        isSystemTask: false,
      },
      replaced: false,
      notes: [],
    });
  });

  it('schedules a prompt for one moment in a zone of its own, and says when no model will read it', async () => {
    const at = '2026-06-02T08:00:00';
    expect(await add({ name: 'call', at, timeZone: 'Asia/Tokyo', prompt: 'Call Anna.' })).toMatchObject({
      task: { description: 'Call Anna.', at: '2026-06-01T23:00:00.000Z', once: true, tool: null, cron: null },
      notes: ['No model.'],
    });
  });

  it('says that a task of that name was replaced', async () => {
    await add({ name: 'call', cron: '0 9 * * *', prompt: 'a' });
    expect(await add({ name: 'CALL', cron: '0 9 * * *', prompt: 'b', once: true, missed: 'once' })).toMatchObject({
      replaced: true,
      task: { once: true, missed: 'once' },
    });
    expect((await scheduleList.handler({}, deps, {})).tasks).toHaveLength(1);
  });

  it('takes a tool that is not there now, with a note that names the nearest', async () => {
    expect((await add({ name: 'r', cron: '0 9 * * *', tool: 'write_raport' })).notes).toEqual([
      'There is no tool "write_raport" now; as long as that is so, the runs fail. Did you mean "write_report"?',
    ]);
  });

  it.each<[Partial<ScheduleAddInput>, string]>([
    [{ cron: '0 9 * * *' }, 'either "prompt"'],
    [{ cron: '0 9 * * *', prompt: 'p', tool: 't' }, 'either "prompt"'],
    [{ cron: '0 9 * * *', prompt: 'p', arguments: {} }, '"arguments" go with "tool"'],
    [{ prompt: 'p' }, 'either cron'],
    [{ cron: '61 * * * *', prompt: 'p' }, 'the minute "61"'],
    [{ cron: '0 0 30 2 *', prompt: 'p' }, 'never matches'],
    [{ at: '2020-01-01T00:00:00', prompt: 'p' }, 'has passed'],
    [{ cron: '0 9 * * *', timeZone: 'Europe/Berln', prompt: 'p' }, 'Did you mean Europe/Berlin'],
    [{ cron: '0 9 * * *', prompt: ' ' }, 'description is blank'],
  ])('refuses %j', async (input, problem) => {
    await expect(add({ name: 'x', ...input })).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining(problem) as string,
    });
  });
});

describe('schedule.list', () => {
  it('lists the tasks of everybody and the default zone', async () => {
    await add({ name: 'b', cron: '0 9 * * *', prompt: 'p', workspace: 'guild' });
    await add({ name: 'c', cron: '0 9 * * *', prompt: 'p' });
    const listed = await scheduleList.handler({}, deps, {});
    expect(scheduleList.output.parse(listed)).toEqual(listed);
    expect([listed.timeZone, ...listed.tasks.map(({ name, workspace }) => [name, workspace])]).toEqual([
      'Europe/Berlin',
      ['c', null],
      ['b', 'guild'],
    ]);
  });
});

describe('schedule.show', () => {
  it('keeps showing what came of a task that ran once and is gone', async () => {
    await add({ name: 'soon', at: '2026-06-01T00:00:10Z', prompt: 'p' });
    expect(await scheduleShow.handler({ name: 'SOON' }, deps, {})).toMatchObject({
      task: { name: 'soon', nextRunAt: '2026-06-01T00:00:10.000Z' },
      history: [],
    });
    scheduler.start();
    await clock.advance(0);
    await clock.advance(10_000);
    const shown = await scheduleShow.handler({ name: 'soon' }, deps, {});
    expect(scheduleShow.output.parse(shown)).toEqual(shown);
    expect(shown).toEqual({
      task: null,
      history: [
        {
          status: 'done',
          scheduledAt: '2026-06-01T00:00:10.000Z',
          startedAt: '2026-06-01T00:00:10.000Z',
          endedAt: '2026-06-01T00:00:10.000Z',
          text: 'all is well',
          missedCount: 0,
          skippedCount: 0,
        },
      ],
    });
  });
});

describe('schedule.cancel', () => {
  it('removes the task of that workspace, whatever the case of its name', async () => {
    await add({ name: 'Report', cron: '0 9 * * *', prompt: 'p' });
    await add({ name: 'Report', cron: '0 9 * * *', prompt: 'p', workspace: 'guild' });
    expect(await scheduleCancel.handler({ name: 'report', workspace: 'guild' }, deps, {})).toEqual({
      cancelled: 'Report',
    });
    expect((await scheduleList.handler({}, deps, {})).tasks).toMatchObject([{ workspace: null }]);
  });
});

describe('a task that is not there', () => {
  it.each([
    [{ name: 'reprot' }, 'There is no scheduled task named "reprot". Did you mean "report"?'],
    [{ name: 'qqqqqq' }, 'There is no scheduled task named "qqqqqq". Known: report.'],
    [{ name: 'Theirs' }, 'There is no scheduled task named "Theirs". One of that name belongs to workspace "guild".'],
    [
      { name: 'report', workspace: 'guild' },
      'There is no scheduled task named "report" in workspace "guild". One of that name belongs to no workspace.',
    ],
  ])('is told with what there is: %j', async (input, message) => {
    await add({ name: 'report', cron: '0 9 * * *', prompt: 'p' });
    await add({ name: 'theirs', cron: '0 9 * * *', prompt: 'p', workspace: 'guild' });
    const unknown = { code: 'schedule_unknown', message };
    await expect(scheduleShow.handler(input, deps, {})).rejects.toMatchObject(unknown);
    await expect(scheduleCancel.handler(input, deps, {})).rejects.toMatchObject(unknown);
  });

  it('is told too where no schedule is in use', async () => {
    await expect(scheduleList.handler({}, makeOperationDeps(), {})).rejects.toMatchObject({
      code: 'schedule_unknown',
    });
  });
});
