import { CronDate } from 'croner';
import { GantryError } from '../kernel/errors.ts';
import { flattenText } from '../text/flatten.ts';
import { formatTime } from './time-zone.ts';

const form = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?)?\s*(Z|[+-]\d{2}(?::?\d{2})?)?$/i;

/**
 * The moment (epoch ms) of an ISO time. Without an offset it is read as the wall time of `timeZone`; a wall time that daylight
 * saving skips moves forward by the gap, and of one that it repeats the first is meant.
 *
 * @throws {GantryError} `invalid_arguments` when it is no complete date and time, does not exist, or is not in the future. The
 * message tells the current time, since models have no clock.
 */
export const parseAt = (text: string, timeZone: string, nowMs: number): number => {
  const refused = (problem: string): GantryError =>
    new GantryError(
      'invalid_arguments',
      `at "${flattenText(text, { maxChars: 60 })}" ${problem}. Now it is ${formatTime(nowMs, timeZone)}.`,
      { details: { at: text } },
    );
  const match = form.exec(text.trim());
  if (!match?.[4])
    throw refused('is not a full date and time; write it like "2026-05-01T09:00:00", with "Z" or an offset if needed');
  const [year, month, day, hour, minute, second = 0] = match.slice(1, 7).map((digits) => Number(digits ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number?,
  ];
  const asUtc = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  if (asUtc.getUTCMonth() !== month - 1 || asUtc.getUTCDate() !== day) throw refused('is a date that does not exist');
  if (hour > 23 || minute > 59 || second > 59) throw refused('is a time that does not exist');
  const atMs = match[7]
    ? asUtc.getTime() - offsetMsOf(match[7])
    : new CronDate(asUtc.toISOString().slice(0, 19), timeZone).getTime();
  if (atMs > nowMs) return atMs;
  throw refused(`has passed ${agoText(nowMs - atMs)}; give a time in the future`);
};

const offsetMsOf = (text: string): number => {
  if (text.toUpperCase() === 'Z') return 0;
  const digits = text.slice(1).replace(':', '').padEnd(4, '0');
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2));
  return (text.startsWith('-') ? -minutes : minutes) * 60_000;
};

const agoText = (agoMs: number): string => (agoMs < 1000 ? 'just now' : `${durationText(agoMs)} ago`);

/** A length of time in its two largest units: `2 d 3 h`, `7 min`, `40 s`. */
export const durationText = (ms: number): string => {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const sizes = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const;
  const first = sizes.findIndex(([count]) => count > 0);
  if (first === -1) return '0 s';
  return sizes
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ');
};
