import { GantryError } from '../../../kernel/errors.ts';
import type { LeasedSession, SessionUse } from '../../wire/sessions/older-sessions.ts';
import type { PassTarget } from '../../wire/pass-port.ts';

/** A session of the client's own; undefined when as many copies of a program run for it as may. */
export const leaseFor = async (
  target: PassTarget,
  use: SessionUse,
  signal: AbortSignal,
): Promise<LeasedSession | undefined> => {
  try {
    return await target.leaseSession(use, signal);
  } catch (error) {
    if (target.startProgram && GantryError.is(error) && error.code === 'limit_reached') return undefined;
    throw error;
  }
};
