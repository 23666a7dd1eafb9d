import type { Server, ServerContext } from '@modelcontextprotocol/server';
import { ProtocolError } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import { askOnStanding, askOnStream } from '../ask-on-stream.ts';
import type { InputRequests } from './generations.ts';
import { capabilityFor, declined, takesQuestion } from './relayed.ts';

// MCP 2026-07-28: the client lacks a capability that the request needs.
const missingCapability = -32_021;

/** Asks a client of 2025 on the stream of the request that it is about. */
export const askOne = (method: string, params: unknown, ctx: ServerContext): Promise<JsonObject> =>
  askOnStream({ method, params: isObject(params) ? (params as JsonObject) : {} }, ctx);

/** Asks a client of 2025 on the stream on which it waits for what belongs to no request. */
export const askAside = (method: string, params: unknown, server: Server, signal: AbortSignal): Promise<JsonObject> =>
  askOnStanding({ method, params: isObject(params) ? (params as JsonObject) : {} }, server, signal);

/** Asks a client of 2025 over its session what a server of 2026 wants to know; whoever cannot answer a form declines. */
export const askClient = async (
  target: PassTarget,
  server: Server,
  requests: InputRequests,
  ctx: ServerContext,
): Promise<JsonObject> => {
  const can = server.getClientCapabilities() ?? {};
  const answers: [string, JsonObject][] = [];
  for (const [key, { method, params }] of Object.entries(requests)) {
    const capability = capabilityFor(method);
    if (capability === 'elicitation' && !takesQuestion(can, target, params)) {
      answers.push([key, declined]);
      continue;
    }
    if (capability === undefined || !(capability in can))
      throw new ProtocolError(
        missingCapability,
        `Server "${target.name}" wants ${method}, which this client does not offer.`,
      );
    answers.push([key, await askOne(method, params, ctx)]);
  }
  return answers.length > 0 ? { inputResponses: Object.fromEntries(answers) } : {};
};
