import { isObject } from '../../kernel/json.ts';
import type { JsonObject } from '../../kernel/json.ts';

/** An `initialize` as its session keeps it, or why it is refused. */
export type KeptHandshake =
  | { readonly message: Readonly<Record<string, unknown>>; readonly params: JsonObject }
  | { readonly problem: string };

// MCP 2024-11-05 to 2025-11-25, `ClientCapabilities`.
const capabilityNames = ['elicitation', 'experimental', 'extensions', 'roots', 'sampling', 'tasks'] as const;
const maxChars = 16 * 1024;

/**
 * What a session keeps of the message that opens it, for as long as it lasts: the revision, the capabilities that the protocol has, and who
 * the client is. More than 16 KB of that is refused.
 */
export const keptHandshake = (message: unknown): KeptHandshake => {
  if (!isObject(message)) return { problem: 'it is no message' };
  const given = isObject(message['params']) ? message['params'] : {};
  const { protocolVersion, capabilities, clientInfo } = given;
  const params = {
    protocolVersion,
    capabilities: isObject(capabilities)
      ? Object.fromEntries(
          capabilityNames.flatMap((name) => (name in capabilities ? [[name, capabilities[name]]] : [])),
        )
      : capabilities,
    clientInfo,
  } as JsonObject;
  if (JSON.stringify(params).length > maxChars)
    return {
      problem: `capabilities and clientInfo may have ${maxChars} characters together; leave out what is not needed.`,
    };
  const { jsonrpc, id, method } = message;
  return { message: { jsonrpc, id, method, params }, params };
};
