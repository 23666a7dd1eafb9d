/**
 * How the question of a server travels to whoever made the call: a request on `mcp.peer.request` that names the call, and one answer to
 * where the request wants it.
 */
import type { JsonObject } from '../../kernel/json.ts';
import { isObject } from '../../kernel/json.ts';
import type { PeerQuestion } from '../../tool/context.ts';

/** Message types of the envelopes. */
export const peerMessageTypes = { request: 'McpPeerRequest', response: 'McpPeerResponse' } as const;

/** A question; the body of the request. */
export interface PeerRequest extends PeerQuestion {
  /** The correlation id of the call in which it is asked. */
  readonly callId: string;
}

/** The body of the answer: the result of the method, or why there is none. */
export type PeerResponse = { readonly result: JsonObject } | { readonly error: { readonly message: string } };

/** Reads the body of a request; undefined when it is none. */
export const readPeerRequest = (body: unknown): PeerRequest | undefined => {
  if (!isObject(body)) return undefined;
  const { callId, method, params } = body;
  if (typeof callId !== 'string' || typeof method !== 'string' || !isObject(params)) return undefined;
  return { callId, method, params: params as JsonObject };
};

/** Reads the body of an answer; what cannot be read is an error. */
export const readPeerResponse = (body: unknown): PeerResponse => {
  const { result, error } = isObject(body) ? body : {};
  if (isObject(result)) return { result: result as JsonObject };
  const message = isObject(error) ? error['message'] : undefined;
  return { error: { message: typeof message === 'string' ? message : 'its answer cannot be read' } };
};
