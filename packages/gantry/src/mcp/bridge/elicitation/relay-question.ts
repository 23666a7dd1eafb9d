import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Peer } from '../call/peer.ts';
import type { Decision } from './decide-question.ts';

/**
 * Has the client that made a call answer `elicitation/create`. Only the shape of its answer is looked at: what is in it is between the
 * client and the server. A client that answers with an error, or has gone, cancels.
 */
export const relayQuestion = async (
  params: JsonObject,
  peer: Pick<Peer, 'ask'>,
  signal: AbortSignal,
): Promise<Exclude<Decision, { readonly action: 'hand-back' }>> => {
  let said: JsonObject;
  try {
    said = await peer.ask({ method: 'elicitation/create', params }, signal);
  } catch {
    return { action: 'cancel' };
  }
  const { action, content = {} } = said;
  if (action === 'accept' && isObject(content)) return { action, content, said };
  if (action === 'cancel') return { action };
  return {
    action: 'decline',
    reason: action === 'decline' ? 'the client declined it' : 'the client gave no answer to it',
  };
};
