import { describe, expect, it } from 'vitest';
import { isObject } from '../kernel/json.ts';
import { parseCron } from './cron.ts';
import { cronNotes } from './explain-cron.ts';

const nextOf = (cron: string, zone: string, after: string, count: number): string[] => {
  const line = parseCron(cron, zone);
  const found: string[] = [];
  let atMs: number | undefined = Date.parse(after);
  while (found.length < count) {
    atMs = line.nextAfter(atMs);
    if (atMs === undefined) break;
    found.push(new Date(atMs).toISOString().replace('.000Z', 'Z'));
  }
  return found;
};
const refusal = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (isObject(error) && error['code'] === 'invalid_arguments') return String(error['message']);
    throw error;
  }
  throw new Error('not refused');
};
const readable = (cron: string): unknown => parseCron(cron, 'UTC');

describe('cron lines', () => {
  it.each(['0 9 * * 1-5', '*/15 * * * *', '0 0 9 * * 1-5', '1-30/5 * * * *', '0  9 \t* jan-Mar sun', '? 9 ? * ?'])(
    'takes %j',
    (cron) => expect(parseCron(cron, 'UTC').nextAfter(0)).toBeGreaterThan(0),
  );

  it.each([
    ['0 9 * *', 'has 4 fields'],
    ['0 0 9 * * 1-5 2027', 'has 7 fields; a field for years is not supported'],
    ['61 * * * *', 'the minute "61" is not valid (0-59)'],
    ['0 24 * * *', 'the hour "24" is not valid (0-23)'],
    ['0 0 32 * *', 'the day of month "32" is not valid (1-31'],
    ['0 0 * 13 *', 'the month "13" is not valid (1-12'],
    ['0 0 * * 8', 'the day of week "8" is not valid (0-7'],
    ['a b c d e', 'the minute "a" is not valid'],
    ['60 0 0 * * *', 'the second "60" is not valid'],
    ['45 12 * * TUE,THU *', 'the month "TUE,THU" is not valid (1-12 or JAN-DEC; six fields begin with the second)'],
    ['0 22-4 * * *', 'a range must rise'],
    ['*/0 * * * *', 'the minute "*/0" is not valid'],
    ['', 'The cron expression is empty'],
    ['@daily', 'aliases such as "@daily" are not supported'],
  ])('refuses %j and says why and how to write it', (cron, why) => {
    const message = refusal(() => readable(cron));
    expect(message).toContain(why);
    expect(message).toContain('5 fields "minute hour day-of-month month day-of-week"');
    expect(message).toContain('6 fields with the second first');
  });

  it('runs a fixed time once and an interval evenly on the days the clock changes', () => {
    const daily = nextOf('30 2 * * *', 'America/New_York', '2026-03-08T00:00:00Z', 2);
    expect(daily).toEqual(['2026-03-08T07:00:00Z', '2026-03-09T06:30:00Z']);
    const autumn = nextOf('*/30 1 * * *', 'America/New_York', '2026-11-01T05:00:00Z', 4);
    expect(autumn.slice(0, 3)).toEqual(['2026-11-01T05:30:00Z', '2026-11-01T06:00:00Z', '2026-11-01T06:30:00Z']);
  });

  it('finds the last occurrence, and those between two times', () => {
    const line = parseCron('0 * * * *', 'UTC');
    const hour = (of: number): number => Date.UTC(2026, 5, 1, of);
    expect(line.lastBefore(hour(8) + 1)).toBe(hour(8));
    expect(line.between(hour(3), hour(6), 10)).toEqual([hour(4), hour(5), hour(6)]);
    expect(line.between(hour(3), hour(9), 2)).toEqual([hour(4), hour(5)]);
  });
});

describe('notes on a cron line', () => {
  it.each([
    ['0 0 13 * 5', /either/],
    ['0 12 31 * *', /Months without day 31/],
    ['0 12 1,30 * *', /Months without day 30/],
  ])('warns about %s', (cron, note) => expect(cronNotes(cron).join(' ')).toMatch(note));

  it.each(['0 9 * * 1-5', '0 0 1 * ?', '0 12 31 1 *', '0 0 9 13 * *'])('has none on %s', (cron) =>
    expect(cronNotes(cron)).toEqual([]),
  );
});
