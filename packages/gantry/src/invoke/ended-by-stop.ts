import { GantryError } from '../kernel/errors.ts';

/** What the callers of calls are told that a stop of the gateway ends. */
export const endedByStop = (): GantryError =>
  new GantryError('stopped', 'Gantry is stopping, so the call was ended; try again when it runs.');
