import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { notOpen } from '../mail/rounds.ts';
import type { Sealing } from '../pass/carried-state.ts';
import { isParkedState, parkedPrefix } from '../pass/is-parked-state.ts';

/** Makes the state by which a client comes back to a request of its own that waits for it; nobody else can. */
export const parkedState = (sealing: Sealing, name: string, context: string): string =>
  `${parkedPrefix}${sealing.seal(name, context)}`;

/**
 * The name in such a state.
 * @throws {ProtocolError} invalid params where there is none.
 */
export const parkedName = (sealing: Sealing, state: unknown, context: string): string => {
  try {
    if (isParkedState(state)) return sealing.open(state.slice(parkedPrefix.length), context);
  } catch {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'The requestState was not made here, or for another client.',
    );
  }
  throw notOpen();
};
