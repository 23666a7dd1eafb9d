import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { notOpen } from '../mail/rounds.ts';
import type { Sealing } from '../pass/carried-state.ts';

const prefix = 'gantry.parked.';

/** Makes the state by which a client comes back to a request of its own that waits for it; nobody else can. */
export const parkedState = (sealing: Sealing, name: string, context: string): string =>
  `${prefix}${sealing.seal(name, context)}`;

/**
 * The name in such a state.
 * @throws {ProtocolError} invalid params where there is none.
 */
export const parkedName = (sealing: Sealing, state: unknown, context: string): string => {
  try {
    if (typeof state === 'string' && state.startsWith(prefix)) return sealing.open(state.slice(prefix.length), context);
  } catch {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'The requestState was not made here, or for another client.',
    );
  }
  throw notOpen();
};

/** Whether it says that a request goes on which waits. With such a state no request begins. */
export const isParkedState = (state: unknown): boolean => typeof state === 'string' && state.startsWith(prefix);
