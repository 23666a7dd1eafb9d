import type { Server, ServerContext, StandardSchemaV1 } from '@modelcontextprotocol/server';
import { ProtocolError } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import { capabilityFor, declined } from './relayed.ts';

/** Takes whatever is said; neither side of a translation is Gantry's to check. */
export const anything: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'gantry', validate: (value) => ({ value }) },
};

// A person may take long; the call itself is bounded where it runs.
const longestMs = 15 * 60_000;
// MCP 2026-07-28: the client lacks a capability that the request needs.
const missingCapability = -32_021;

/** Asks a client of 2025 on the stream of the request that it is about. */
export const askOne = async (method: string, params: unknown, { mcpReq }: ServerContext): Promise<JsonObject> => {
  const request = { method, params: isObject(params) ? { ...params } : {} };
  return (await mcpReq.send(request, anything, { signal: mcpReq.signal, timeout: longestMs })) as JsonObject;
};

/** Asks a client of 2025 over its session what a server of 2026 wants to know; whoever cannot answer a form declines. */
export const askClient = async (
  target: PassTarget,
  server: Server,
  requests: Readonly<Record<string, { readonly method: string; readonly params: unknown }>>,
  ctx: ServerContext,
): Promise<JsonObject> => {
  const can = server.getClientCapabilities() ?? {};
  const answers: [string, JsonObject][] = [];
  for (const [key, { method, params }] of Object.entries(requests)) {
    const capability = capabilityFor(method);
    if (capability === 'elicitation' && (!can.elicitation || target.isDeclined(params))) {
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
