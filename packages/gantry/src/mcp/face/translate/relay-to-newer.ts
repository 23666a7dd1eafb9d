/**
 * Requests of clients of 2025 to a server of 2026. Each says anew what the client said once in its session; what the server wants to know
 * before it goes on is asked over that session.
 */
import type { Server } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { JsonObject } from '../../../kernel/json.ts';
import { askClient } from './ask-client.ts';
import type { ClientSays } from '../../wire/sessions/client-says.ts';
import { saysOfOlder } from '../../wire/sessions/client-says.ts';
import type { Exchange } from '../../wire/sessions/exchange.ts';
import { tasksExtension } from '../../wire/tasks-extension.ts';
import { readHandedBack } from './generations.ts';
import type { NewerRequest } from './newer-requests.ts';
import type { Relayed } from './relayed.ts';
import { ownerOf, paramsOf, tellClient } from './relayed.ts';
import { isBelow } from './shared-log.ts';

/** The session of a client of 2025, as far as requests to a server of 2026 need it. */
export interface OlderClient {
  readonly server: Server;
  /** Which messages of logs it wants; undefined until it says so. */
  readonly logLevel?: string | undefined;
}

/** How a request is made. */
export interface AskOptions {
  /** Says that the client knows tasks, so that one may come of the request. Default false. */
  readonly knowsTasks?: boolean | undefined;
  /** Gives the request up; default when its client does. */
  readonly signal?: AbortSignal | undefined;
}

/** Gives the result of a request as a server of 2026 wrote it, when the client has answered what the server asks before. */
export type AskNewer = (relayed: Relayed, options?: AskOptions) => Promise<JsonObject>;

// A server that asks again whatever it is told would never end.
const maxRounds = 20;

/** Makes what asks servers by `send`. */
export const createRelayToNewer =
  (send: (request: NewerRequest) => Exchange) =>
  async (relayed: Relayed, { server, logLevel }: OlderClient, options: AskOptions = {}): Promise<JsonObject> => {
    const { target, client, method, ctx } = relayed;
    const { _meta: meta } = ctx.mcpReq;
    const { signal = ctx.mcpReq.signal } = options;
    const says = saysOfOlderClient(server, logLevel, options);
    const sent = paramsOf(relayed);
    let round: JsonObject = {};
    for (let count = 0; count < maxRounds; count += 1) {
      const exchange = send({
        target,
        client,
        says,
        method,
        params: { ...sent, ...round },
        wantsProgress: meta?.progressToken !== undefined,
        owner: ownerOf(relayed, server),
      });
      const tell = tellClient(relayed, logLevel !== undefined);
      exchange.hear((notice) => {
        if (logLevel === undefined || !isBelow(notice, logLevel)) tell(notice);
      });
      let result: JsonObject;
      try {
        const step = await exchange.next(signal);
        if (!('result' in step)) throw new ProtocolError(ProtocolErrorCode.InternalError, asksOutOfPlace(target.name));
        ({ result } = step);
      } finally {
        exchange.abandon();
      }
      const asked = readHandedBack(result);
      if (!asked) return result;
      round = { ...(await askClient(target, server, asked.requests, ctx)), ...asked.state };
    }
    throw new ProtocolError(ProtocolErrorCode.InternalError, `Server "${target.name}" kept asking; it was given up.`);
  };

/** What a client of 2025 said in its session. */
export const saysOfOlderClient = (
  server: Server,
  logLevel: string | undefined,
  { knowsTasks = false }: AskOptions = {},
): ClientSays => {
  const says = saysOfOlder((server.getClientCapabilities() ?? {}) as JsonObject, server.getClientVersion(), logLevel);
  if (!knowsTasks) return says;
  return { ...says, capabilities: { ...says.capabilities, extensions: { [tasksExtension]: {} } } };
};

const asksOutOfPlace = (name: string): string =>
  `Server "${name}" asks over a session, which the protocol of 2026 does not have.`;
