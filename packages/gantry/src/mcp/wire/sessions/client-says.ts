import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';

/** What a client says of itself: once in its handshake (2025), or with every request (2026). */
export interface ClientSays {
  readonly clientInfo: JsonObject;
  /** What it can be asked for: `elicitation`, `sampling`, `roots`. */
  readonly capabilities: JsonObject;
  /** From which level on it wants messages of the server's log; undefined for none. */
  readonly logLevel: string | undefined;
}

/** Keys of `_meta` by which a client of 2026-07-28 says them. */
export const metaKeys = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
} as const;

/** Levels of logs from the lowest on: RFC 5424, as MCP names them. */
export const logLevels: readonly string[] = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
];

/** What a request of 2026-07-28 says of its client. */
export const saysInMeta = (meta: Readonly<Record<string, unknown>>): ClientSays => {
  const { [metaKeys.clientInfo]: info, [metaKeys.capabilities]: can, [metaKeys.logLevel]: level } = meta;
  return {
    clientInfo: isObject(info) && isKept(info) ? (info as JsonObject) : { name: 'unknown', version: '0' },
    capabilities: isObject(can) ? askable(can as JsonObject) : {},
    logLevel: typeof level === 'string' && logLevels.includes(level) ? level : undefined,
  };
};

/** The same in the client's own words, for a server that speaks them and keeps none of it. */
export const wholeSaysInMeta = (meta: Readonly<Record<string, unknown>>): ClientSays => {
  const { [metaKeys.clientInfo]: info, [metaKeys.capabilities]: can, [metaKeys.logLevel]: level } = meta;
  return {
    clientInfo: isObject(info) ? (info as JsonObject) : { name: 'unknown', version: '0' },
    capabilities: isObject(can) ? (can as JsonObject) : {},
    logLevel: typeof level === 'string' ? level : undefined,
  };
};

// Sessions with servers are opened with it, and keep it.
const isKept = (info: object): boolean => JSON.stringify(info).length <= 16 * 1024;

// Both generations know these three; what else a client can do concerns its own hop. What is not known of them is left out, so that there are
// few different ones: clients that say the same share what is kept for them.
const askable = ({ elicitation, sampling, roots }: JsonObject): JsonObject => ({
  ...(isObject(elicitation) && { elicitation: flagsOf(elicitation, ['form', 'url']) }),
  ...(isObject(sampling) && { sampling: flagsOf(sampling, ['context', 'tools']) }),
  // Lists that change are told of over a session, which a client of 2026 does not have.
  ...(isObject(roots) && { roots: {} }),
});

const flagsOf = (value: object, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.filter((name) => name in value).map((name) => [name, {}]));

/** What a client of 2025 says, in the words of 2026. */
export const saysOfOlder = (
  capabilities: JsonObject,
  clientInfo: JsonObject | undefined,
  logLevel: string | undefined,
): ClientSays => {
  const { elicitation, ...rest } = askable(capabilities);
  return {
    clientInfo: clientInfo ?? { name: 'unknown', version: '0' },
    capabilities: {
      ...rest,
      // Before there were two modes, saying nothing meant forms.
      ...(isObject(elicitation) && {
        elicitation: Object.keys(elicitation).length === 0 ? { form: {} } : elicitation,
      }),
    },
    logLevel,
  };
};
