import type { ClientSays } from '../../wire/sessions/client-says.ts';

/** Whether a client of 2026 can be asked or told anything in the middle of a request. */
export const takesPart = ({ capabilities, logLevel }: ClientSays): boolean =>
  Object.keys(capabilities).length > 0 || logLevel !== undefined;
