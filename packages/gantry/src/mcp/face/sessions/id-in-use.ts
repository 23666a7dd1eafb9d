import type { RequestId } from '@modelcontextprotocol/server';
import { isObject } from '../../../kernel/json.ts';
import { rpcErrorResponse } from '../pass/rpc-response.ts';

/** The id of a request in a body under which another runs already, by what `isOpen` knows of, or in the same body. */
export const idInUse = (body: unknown, isOpen: (id: RequestId) => boolean): RequestId | undefined => {
  if (!Array.isArray(body)) {
    const id = requestIdIn(body);
    return id !== undefined && isOpen(id) ? id : undefined;
  }
  const seen = new Set<RequestId>();
  for (const message of body as readonly unknown[]) {
    const id = requestIdIn(message);
    if (id === undefined) continue;
    if (isOpen(id) || seen.has(id)) return id;
    seen.add(id);
  }
  return undefined;
};

/**
 * Refuses such a request: neither the client nor the transport could tell the two answers apart. MCP 2025-11-25, "Requests": an id must not
 * have been used before within the session.
 */
export const idIsInUse = (id: RequestId): Response =>
  rpcErrorResponse(
    { id },
    400,
    -32_600,
    `The id ${JSON.stringify(id)} is in use: a request with it runs in this session. Send this one again with another id.`,
  );

const requestIdIn = (message: unknown): RequestId | undefined => {
  if (!isObject(message) || typeof message['method'] !== 'string') return undefined;
  const { id } = message;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
};
