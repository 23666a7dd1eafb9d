import { isObject, parseJson } from '../../../kernel/json.ts';
import type { JsonObject } from '../../../kernel/json.ts';

/** Encrypts what a client carries for Gantry, and opens it again; throws when it was changed or belongs elsewhere. */
export interface Sealing {
  seal(plaintext: string, context: string): string;
  open(sealed: string, context: string): string;
}

/** A server's state, and the answers that Gantry has given for the client already. */
export interface CarriedState {
  readonly requestState: string | undefined;
  readonly responses: JsonObject;
}

const prefix = 'gantry.';

/** Puts the server's state and Gantry's own answers into one state for the client to carry. */
export const wrapState = (sealing: Sealing, context: string, state: CarriedState): string =>
  `${prefix}${sealing.seal(JSON.stringify(state), context)}`;

/**
 * Takes apart what {@link wrapState} made. Undefined for anything else, which is the server's own to judge, for that may be a Gantry too:
 * what does not open says nothing to this one, and a client may send a server any text as its state.
 */
export const unwrapState = (sealing: Sealing, context: string, requestState: unknown): CarriedState | undefined => {
  if (typeof requestState !== 'string' || !requestState.startsWith(prefix)) return undefined;
  let text: string;
  try {
    text = sealing.open(requestState.slice(prefix.length), context);
  } catch {
    return undefined;
  }
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  return parsed.value as unknown as CarriedState;
};
