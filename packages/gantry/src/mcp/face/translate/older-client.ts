import type { Server } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Clock } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { logLevels, saysOfOlder } from '../../wire/sessions/client-says.ts';
import type { Exchange } from '../../wire/sessions/exchange.ts';
import { askAside } from './ask-client.ts';
import { toLegacyResult } from './generations.ts';
import { createSessionNotices } from './listen-to-newer.ts';
import { createSharedNotices } from './listen-to-shared.ts';
import type { NewerRequest } from './newer-requests.ts';
import type { OlderSession } from '../../wire/sessions/older-session.ts';
import type { LeasedSession } from '../../wire/sessions/older-sessions.ts';
import { relayOlderOverLink } from './relay-over-link.ts';
import { runsTasks } from './offered.ts';
import type { AskNewer, AskOptions, OlderClient } from './relay-to-newer.ts';
import { answerFor, relayToProgram } from './relay-to-program.ts';
import type { Relayed, Visit } from './relayed.ts';
import { filtered } from './relayed.ts';
import type { Silence } from './silence.ts';
import { takesPart } from './takes-part.ts';
import type { TasksAtNewer } from './tasks/tasks-at-newer.ts';

/** Makes the protocol server that a client speaks with. */
export type OpenServer = (
  first: Visit,
  generation: 'modern' | 'legacy',
  relay: (relayed: Relayed) => Promise<JsonObject>,
) => Server;

/** What sessions of clients of 2025 are made of. */
export interface OlderClientParts {
  readonly open: OpenServer;
  readonly relayToNewer: (relayed: Relayed, client: OlderClient, options?: AskOptions) => Promise<JsonObject>;
  readonly tasksAtNewer: TasksAtNewer;
  readonly sendNewer: (request: NewerRequest) => Exchange;
  readonly clock: Clock;
  readonly log: Log;
}

/** The session of a client of 2025, as it was opened. */
interface OpenedSession {
  readonly first: Visit;
  /** Its name inside Gantry. */
  readonly session: string;
  /** The parameters of its `initialize`. */
  readonly initialize: JsonObject;
}

/** Makes the protocol server of a session, for a server that speaks 2026, or for a program. */
export const openOlderClient = (parts: OlderClientParts, opened: OpenedSession): Server => {
  const { target } = opened.first;
  return target.era === 'legacy' && target.startProgram && takesPart(saysIn(opened.initialize))
    ? openAtProgram(parts, opened)
    : openAtShared(parts, opened);
};

const textIn = (params: JsonObject, name: string): string => {
  const value = params[name];
  if (typeof value === 'string') return value;
  throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Invalid params: "${name}" must be a text.`);
};

const levelIn = (params: JsonObject): string => {
  const level = textIn(params, 'level');
  if (logLevels.includes(level)) return level;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    `Invalid params: "level" must be one of ${logLevels.join(', ')}.`,
  );
};

const saysIn = ({ capabilities, clientInfo }: JsonObject): ReturnType<typeof saysOfOlder> =>
  saysOfOlder(isObject(capabilities) ? capabilities : {}, isObject(clientInfo) ? clientInfo : undefined, undefined);

/** The result of a request in the words of 2025. Which generation a program speaks may be found out anew each time it is started. */
const resultFor = async (
  { relayToNewer, tasksAtNewer, clock }: OlderClientParts,
  relayed: Relayed,
  client: OlderClient,
): Promise<JsonObject> => {
  const { target, method } = relayed;
  if (target.era === 'legacy') return await relayOlderOverLink(relayed, client, clock);
  const ask: AskNewer = (one, options) => relayToNewer(one, client, options);
  if (runsTasks(target.link.capabilities, target.era))
    return await tasksAtNewer(relayed, { server: client.server, ask });
  return toLegacyResult(filtered(target, method, await ask(relayed)));
};

const ofRequests: ReadonlySet<string> = new Set([
  'notifications/progress',
  'notifications/message',
  'notifications/cancelled',
]);

/** A program runs for this session alone, and ends with it. */
const openAtProgram = (
  { open, clock, log }: OlderClientParts,
  { first, session, initialize }: OpenedSession,
): Server => {
  // In the client's own words: both sides speak them.
  const { capabilities, clientInfo } = initialize;
  const says = {
    ...saysIn(initialize),
    capabilities: (capabilities ?? {}) as JsonObject,
    clientInfo: (clientInfo ?? {}) as JsonObject,
  };
  const over = new AbortController();
  const silences = new Set<Silence>();
  let heard: OlderSession | undefined;
  let newest: Visit = first;
  const hear = (leased: LeasedSession): void => {
    if (heard === leased.session) return;
    heard = leased.session;
    leased.session.answerAside?.((asked, signal) =>
      answerFor(newest.target, server, asked, (method, params) => askAside(method, params, server, signal)),
    );
    void leased.session.listen(({ method, params }) => {
      // Some belong to a request, and go with it, or to a question, which the client has under another id; what has another name is none.
      if (ofRequests.has(method) || !method.startsWith('notifications/')) return;
      server
        .notification({ method, params: { ...params } })
        .catch((error: unknown) => log.debug({ reason: messageOf(error) }, 'a client could not be told of a change'));
    }, over.signal);
  };
  const server: Server = open(first, 'legacy', async (relayed) => {
    newest = relayed;
    const { target, ctx } = relayed;
    const leased = await target.leaseSession({ client: relayed.client, session, says }, ctx.mcpReq.signal);
    hear(leased);
    return await relayToProgram(relayed, { server, leased, silences, clock });
  });
  const rootsChanged = 'notifications/roots/list_changed';
  server.setNotificationHandler(rootsChanged, () => heard?.notify?.(rootsChanged, {}));
  server.onclose = () => {
    over.abort();
    first.target.endSession(session);
  };
  return server;
};

/**
 * Its requests go to a server of 2026 over HTTP, or to a program that it shares with others since it cannot be asked (2025), or since programs of
 * 2026 know no sessions. What it wants to hear is kept here.
 */
const openAtShared = (parts: OlderClientParts, { first }: OpenedSession): Server => {
  const { open, sendNewer, clock, log } = parts;
  let newest: Visit = first;
  let logLevel: string | undefined;
  const server: Server = open(first, 'legacy', async (relayed) => {
    newest = relayed;
    const { method, params } = relayed;
    switch (method) {
      case 'logging/setLevel':
        logLevel = levelIn(params);
        await notices.setLogLevel?.(logLevel, relayed.ctx.mcpReq.signal);
        return {};
      case 'resources/subscribe':
        await notices.subscribe(textIn(params, 'uri'), relayed.ctx.mcpReq.signal);
        return {};
      case 'resources/unsubscribe':
        notices.unsubscribe(textIn(params, 'uri'));
        return {};
      default:
        return await resultFor(parts, relayed, { server, logLevel });
    }
  });
  const about = { server, visit: () => newest, clock, log };
  const notices =
    first.target.era === 'modern' ? createSessionNotices({ ...about, send: sendNewer }) : createSharedNotices(about);
  server.oninitialized = () => notices.start();
  server.onclose = () => notices[Symbol.dispose]();
  return server;
};
