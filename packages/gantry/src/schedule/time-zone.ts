import { GantryError } from '../kernel/errors.ts';
import { nearest } from '../kernel/nearest.ts';
import { flattenText } from '../text/flatten.ts';

/** The zone of the machine, as an IANA name. */
// Making a formatter just to ask it takes 8 MB of memory; Node 24 has nothing else.
export const systemTimeZone = (): string =>
  'Temporal' in globalThis ? Temporal.Now.timeZoneId() : new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** True for an IANA name (case does not matter) or a fixed offset such as `+02:00`. */
export const isTimeZone = (zone: string): boolean => {
  try {
    return zone !== '' && new Intl.DateTimeFormat('en', { timeZone: zone }).format(0) !== '';
  } catch (error) {
    if (error instanceof RangeError) return false;
    throw error;
  }
};

/**
 * The zone as it was written, once it is known to exist.
 * @throws {GantryError} `invalid_arguments` with names that come close.
 */
export const parseTimeZone = (text: string): string => {
  const zone = text.trim();
  if (isTimeZone(zone)) return zone;
  throw new GantryError(
    'invalid_arguments',
    `There is no time zone "${flattenText(zone, { maxChars: 60 })}". ${hintFor(zone)}`,
    { details: { zone } },
  );
};

const hintFor = (zone: string): string => {
  const offset = /^(?:utc|gmt)?\s*([+-])\s*(\d{1,2})(?::?(\d{2}))?$/i.exec(zone);
  if (offset) {
    const fixed = `${offset[1]}${(offset[2] as string).padStart(2, '0')}:${offset[3] ?? '00'}`;
    if (isTimeZone(fixed))
      return `Write "${fixed}" for a fixed offset, or an IANA name such as "Europe/Berlin", which follows daylight saving.`;
  }
  const near = nearest(zone, Intl.supportedValuesOf('timeZone'));
  const suggestion = near.length > 0 ? `Did you mean ${near.join(', ')}? ` : '';
  return `${suggestion}Use an IANA name such as "Europe/Berlin" or "America/New_York", "UTC", or an offset such as "+02:00".`;
};

/** A moment as people and models read it: `2026-06-01 09:00:00 (Asia/Kathmandu, UTC+05:45)`. */
export const formatTime = (timeMs: number, zone: string): string => {
  const { date, time, offset } = wallTime(timeMs, zone);
  return `${date} ${time} (${zone.toUpperCase() === 'UTC' ? 'UTC' : `${zone}, ${offset}`})`;
};

const wallTime = (timeMs: number, zone: string): { date: string; time: string; offset: string } => {
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of formatter(zone).formatToParts(timeMs)) part[type] = value;
  const offset = (part.timeZoneName ?? '').replace('GMT', 'UTC');
  return {
    date: `${part.year}-${part.month}-${part.day}`,
    time: `${part.hour}:${part.minute}:${part.second}`,
    offset,
  };
};

const formatter = (zone: string): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'longOffset',
  });
