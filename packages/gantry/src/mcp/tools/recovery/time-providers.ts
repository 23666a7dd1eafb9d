import type { Clock } from '../../../kernel/clock.ts';
import type { ArgumentProvider } from './argument-provider.ts';

const zoneFields = /^(?:time[_-]?zone|tz)$/i;
const nowFields = /^(?:now|current[_-]?(?:time|date[_-]?time|timestamp))$/i;

/** Knows the time zone of this host by its IANA name. */
export const timeZoneProvider: ArgumentProvider = ({ field }) =>
  zoneFields.test(field) ? Intl.DateTimeFormat().resolvedOptions().timeZone : undefined;

/** Knows the time as ISO text. */
export const currentTimeProvider =
  (clock: Clock): ArgumentProvider =>
  ({ field }) =>
    nowFields.test(field) ? new Date(clock.nowMs()).toISOString() : undefined;
