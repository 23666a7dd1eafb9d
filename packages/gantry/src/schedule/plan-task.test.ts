import { describe, expect, it } from 'vitest';
import { durationText } from './parse-at.ts';
import type { NewTask } from './plan-task.ts';
import { planTask } from './plan-task.ts';
import { formatTime } from './time-zone.ts';

const nowMs = Date.parse('2026-05-01T09:07:00+02:00');
const plan = (request: Partial<NewTask>, at = nowMs, agentZone = 'Europe/Berlin') =>
  planTask({ name: 'report', description: 'Report.', ...request }, { nowMs: at, agentZone });

describe('a task at one moment', () => {
  it.each([
    ['2026-05-01T09:08:00+02:00', '2026-05-01T07:08:00.000Z'],
    ['2026-05-01T09:08:00', '2026-05-01T07:08:00.000Z'],
    ['2026-05-01 09:08', '2026-05-01T07:08:00.000Z'],
    ['2026-05-01T07:08:00Z', '2026-05-01T07:08:00.000Z'],
    ['2027-01-01T00:00:00.000+0530', '2026-12-31T18:30:00.000Z'],
  ])('reads %s', (at, wanted) => {
    const { nextRunMs, task } = plan({ at });
    expect(new Date(nextRunMs).toISOString()).toBe(wanted);
    expect(task.runOnce).toBe(true);
  });

  it.each([
    ['2026-05-01T09:00:00+02:00', 'has passed 7 min ago'],
    ['2026-05-01 09:00', 'has passed 7 min ago'],
    ['2026-05-01T09:07:00+02:00', 'has passed just now'],
    ['09:00', 'is not a full date and time'],
    ['2026-05-02', 'is not a full date and time'],
    ['tomorrow', 'is not a full date and time'],
    ['2026-02-30T10:00:00', 'is a date that does not exist'],
    ['2026-13-01T10:00:00', 'is a date that does not exist'],
    ['2026-06-01T25:00:00', 'does not exist'],
  ])('refuses %s and tells the current time', (at, why) => {
    expect(() => plan({ at })).toThrow(why);
    expect(() => plan({ at })).toThrow('Now it is 2026-05-01 09:07:00 (Europe/Berlin, UTC+02:00)');
  });

  it('reads it in the zone of the task', () => {
    const { nextRunMs } = plan({ at: '2026-05-01T09:08:00', timeZone: 'America/New_York' });
    expect(new Date(nextRunMs).toISOString()).toBe('2026-05-01T13:08:00.000Z');
  });
});

describe('a task by cron', () => {
  it('refuses a pinned time that has just passed instead of waiting for a year', () => {
    const request = { cron: '0 0 9 1 5 *', runOnce: true };
    expect(() => plan(request)).toThrow('has passed 7 min ago and comes again only at 2027-05-01 09:00:00');
    expect(plan({ ...request, runOnce: false }).nextRunMs).toBe(Date.parse('2027-05-01T07:00:00Z'));
    expect(plan({ cron: '0 10 1 5 *', runOnce: true }).nextRunMs).toBe(Date.parse('2026-05-01T08:00:00Z'));
  });

  it.each(['0 0 31 4,6 *', '0 0 30 2 *', '0 0 31 2 *'])('refuses %s, which never comes', (cron) =>
    expect(() => plan({ cron })).toThrow('never matches a date'),
  );

  it.each<[Partial<NewTask>, string]>([
    [{}, 'Give either cron'],
    [{ cron: '0 9 * * *', at: '2026-06-01T00:00:00' }, 'Give either cron'],
    [{ cron: '0 9 * * *', description: ' ' }, 'description is blank'],
    [{ cron: '0 9 * * *', name: '' }, 'cannot be used'],
    [{ cron: '0 9 * * *', name: '../x' }, 'cannot be used'],
    [{ cron: '0 9 * * *', name: 'a\nb' }, 'cannot be used'],
    [{ cron: '0 9 * * *', name: 'x'.repeat(101) }, 'cannot be used'],
  ])('refuses %j', (request, why) => expect(() => plan(request)).toThrow(why));
});

describe('time zones', () => {
  const at = Date.parse('2026-06-01T00:00:00Z');
  const cron = '0 9 * * *';

  it('works out the next run in the zone that it shows', () => {
    const { nextRunMs, zone } = plan({ cron, timeZone: 'Asia/Kathmandu' }, at, 'UTC');
    expect(new Date(nextRunMs).toISOString()).toBe('2026-06-01T03:15:00.000Z');
    expect(formatTime(nextRunMs, zone)).toBe('2026-06-01 09:00:00 (Asia/Kathmandu, UTC+05:45)');
  });

  it.each([
    ['EST', '2026-06-01T14:00:00.000Z'],
    ['+02:00', '2026-06-01T07:00:00.000Z'],
    ['europe/berlin', '2026-06-01T07:00:00.000Z'],
  ])('takes %s', (timeZone, wanted) =>
    expect(new Date(plan({ cron, timeZone }, at, 'UTC').nextRunMs).toISOString()).toBe(wanted),
  );

  it.each([
    ['Mars/Base', 'There is no time zone "Mars/Base". Use an IANA name'],
    ['utc+2', 'Write "+02:00" for a fixed offset'],
    ['Europe/Berln', 'Did you mean Europe/Berlin'],
    ['', 'There is no time zone ""'],
  ])('refuses %j with a way out', (timeZone, why) => {
    expect(() => plan({ cron, timeZone }, at, 'UTC')).toThrow(why);
  });
});

describe('durationText', () => {
  it.each([
    [400, '0 s'],
    [40_000, '40 s'],
    [420_000, '7 min'],
    [3_661_000, '1 h 1 min'],
    [86_400_000 * 31, '31 d'],
  ])('says %i ms as %s', (ms, text) => expect(durationText(ms)).toBe(text));
});
