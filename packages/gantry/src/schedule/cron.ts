import { Cron } from 'croner';
import { GantryError } from '../kernel/errors.ts';
import { explainCron } from './explain-cron.ts';

/** A cron line in a time zone. Times are epoch milliseconds. */
export interface CronLine {
  /** The first occurrence strictly after that time; undefined when there is none any more. */
  nextAfter(timeMs: number): number | undefined;
  /** The last occurrence before that time. */
  lastBefore(timeMs: number): number | undefined;
  /** Occurrences after `afterMs` up to and including `upToMs`, oldest first, at most `limit`. */
  between(afterMs: number, upToMs: number, limit: number): number[];
}

/**
 * Reads five fields (minute first) or six (second first). Both day fields set: either matches. A fixed time that daylight saving
 * skips runs at the jump, and one that it repeats runs at the first of the two.
 *
 * @throws {GantryError} `invalid_arguments` saying which field is wrong and what both forms look like.
 */
export const parseCron = (text: string, timeZone: string): CronLine => {
  const cron = open(text, timeZone);
  return {
    nextAfter: (timeMs) => cron.nextRun(new Date(timeMs))?.getTime(),
    // The library looks back from the whole second, which would leave out an occurrence earlier in the same second.
    lastBefore: (timeMs) => cron.previousRuns(1, new Date(Math.ceil(timeMs / 1000) * 1000))[0]?.getTime(),
    between: (afterMs, upToMs, limit) => {
      const found: number[] = [];
      for (let at = cron.nextRun(new Date(afterMs)); at && found.length < limit; at = cron.nextRun(at)) {
        if (at.getTime() > upToMs) break;
        found.push(at.getTime());
      }
      return found;
    },
  };
};

/** The line with single blanks between its fields. */
export const normalizeCron = (text: string): string => text.trim().replaceAll(/\s+/g, ' ');

const open = (text: string, timeZone: string): Cron => {
  const line = normalizeCron(text);
  // Aliases ("@daily") and a seventh field (years) are understood by the library, but are no part of what is documented.
  if (!line.startsWith('@') && [5, 6].includes(line.split(' ').length)) {
    try {
      return openLine(line, timeZone);
    } catch (error) {
      throw invalid(line, explainCron(line, isReadable), error);
    }
  }
  throw invalid(line, explainCron(line, isReadable), undefined);
};

const openLine = (line: string, timeZone: string): Cron =>
  new Cron(line, { paused: true, timezone: timeZone, mode: '5-or-6-parts' });

const isReadable = (line: string): boolean => {
  try {
    openLine(line, 'UTC');
    return true;
  } catch (error) {
    if (error instanceof TypeError || error instanceof RangeError) return false;
    throw error;
  }
};

const invalid = (cron: string, message: string, cause: unknown): GantryError =>
  new GantryError('invalid_arguments', message, { details: { cron }, cause });
