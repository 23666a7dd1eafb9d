import type { Server, ServerContext, StandardSchemaV1 } from '@modelcontextprotocol/server';
import { GantryError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { PeerQuestion } from '../../tool/context.ts';
import { isListening } from './sessions/standing.ts';

/** Takes whatever is said; neither side is Gantry's to check. */
export const anything: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'gantry', validate: (value) => ({ value }) },
};

// A person may take long; the call itself is bounded where it runs.
const longestMs = 15 * 60_000;

/** Asks a client of 2025 on the stream of the request that it is about; the client is told when the signal takes the question back. */
export const askOnStream = async (
  { method, params }: PeerQuestion,
  { mcpReq }: ServerContext,
  signal: AbortSignal = mcpReq.signal,
): Promise<JsonObject> => {
  const options = { signal: AbortSignal.any([mcpReq.signal, signal]), timeout: longestMs };
  return (await mcpReq.send({ method, params: toOlder(params) }, anything, options)) as JsonObject;
};

/**
 * Asks a client of 2025 on the stream that belongs to no request.
 * @throws {GantryError} `usage` where the client has none open.
 */
export const askOnStanding = async (
  { method, params }: PeerQuestion,
  server: Server,
  signal: AbortSignal,
): Promise<JsonObject> => {
  if (!isListening(server)) throw new GantryError('usage', 'The client has no stream open on which it could be asked.');
  const options = { signal, timeout: longestMs };
  return (await server.request({ method, params: toOlder(params) }, anything, options)) as JsonObject;
};

// MCP 2025-11-25 wants an id with every page, by which a server may say later that it was seen; 2026-07-28 has none.
const toOlder = (params: JsonObject): JsonObject =>
  params['mode'] === 'url' && params['elicitationId'] === undefined
    ? { ...params, elicitationId: newId() }
    : { ...params };
