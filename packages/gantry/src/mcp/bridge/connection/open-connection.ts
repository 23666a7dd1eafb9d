import type { Client, ClientCapabilities } from '@modelcontextprotocol/client';
import { orAborted } from '../../../kernel/abort.ts';
import { messageOf } from '../../../kernel/errors.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import { scrubText } from '../../../text/scrub.ts';
import { withPlainIssues } from '../../wire/plain-issues.ts';
import type { TokenKeeper } from '../auth/token-keeper.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import { isStdioEntry, transportModeOf } from '../config/server-entry.ts';
import type { AnswerRequest } from './answer-requests.ts';
import { listenForChanges } from './change-notices.ts';
import type { Channel } from './channel.ts';
import { createChannel } from './channel.ts';
import { bodyOf, isSseError, statusOf } from './connection-errors.ts';
import type { TransportKind, TransportOptions } from './create-transport.ts';
import { createTransport } from './create-transport.ts';
import { loadSdk, noSdkTimeoutMs } from './sdk.ts';
import { watchTransport } from './watch-transport.ts';

/** A connection that has been initialised. Disposing ends it, and its program if it has one. */
export interface Connection extends AsyncDisposable {
  readonly client: Client;
  readonly transport: TransportKind;
  readonly protocolVersion: string | null;
  /** Speaks the protocol of 2026: no session, and notices only on request. */
  readonly isModern: boolean;
  /** The server was told that it may ask in the middle of calls. */
  readonly mayAsk: boolean;
  /** The server was told that it may ask for answers of a model. */
  readonly maySample: boolean;
  /** Of the server's sign-in, if it has one. */
  readonly tokens: TokenKeeper | undefined;
  /** For requests of clients; undefined over Streamable HTTP, where each request has a channel of its own. */
  readonly channel: Pick<Channel, 'send' | 'listen' | 'endListening'> | undefined;
  /** True while requests carry the id of a session. */
  hasSession(): boolean;
}

/** Answers to what a server may ask, each with the result of its method. */
export type Answers = Readonly<Partial<Record<'elicitation/create' | 'sampling/createMessage', AnswerRequest>>>;

/** What opening a connection needs. */
export interface OpenConnectionOptions extends TransportOptions {
  /** What the bridge says its version is. */
  readonly clientVersion: string;
  /** How long a program may leave the question for its protocol unanswered before the older handshake is tried. */
  readonly stdioProbeTimeoutMs: number;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  /**
   * What the server may ask in the middle of calls, by method: it is told of these and no others, in either protocol. One of the older
   * protocol asks over its session, and is answered by these.
   */
  readonly answers: Answers;
  /** The server says that one of its lists changed. */
  readonly onListChanged: () => void;
  /** The connection ended without being disposed. */
  readonly onLost: (reason: string) => void;
}

/**
 * Connects to a server and initialises: an HTTP server over Streamable HTTP, and over the older SSE transport when its first answer says
 * that it does not know the newer one. The newest protocol both sides speak is found out. A failed attempt leaves nothing running.
 */
export const openConnection = async (
  name: string,
  entry: ServerEntry,
  options: OpenConnectionOptions,
): Promise<Connection> => {
  if (isStdioEntry(entry)) return await attempt('stdio', name, entry, options);
  const mode = transportModeOf(entry);
  if (mode === 'sse') return await attempt('sse', name, entry, options);
  try {
    return await attempt('streamable-http', name, entry, options);
  } catch (error) {
    if (mode === 'streamable-http' || !saysNotStreamable(error)) throw error;
    options.log.debug({ server: name, status: statusOf(error) }, 'no Streamable HTTP here; the SSE transport is tried');
    try {
      return await attempt('sse', name, entry, options);
    } catch (sseError) {
      options.log.debug({ server: name, reason: messageOf(sseError) }, 'the SSE transport failed too');
      throw error;
    }
  }
};

const attempt = async (
  kind: TransportKind,
  name: string,
  entry: ServerEntry,
  options: OpenConnectionOptions,
): Promise<Connection> => {
  const { log, signal, answers } = options;
  const mayAsk = answers['elicitation/create'] !== undefined;
  const maySample = answers['sampling/createMessage'] !== undefined;
  const sdk = await loadSdk();
  const inner = await createTransport(kind, name, entry, options);
  const channel = kind === 'streamable-http' ? undefined : createChannel(inner, { server: name, log });
  const transport = watchTransport(inner, name, { log, answers, channel, checksDepth: kind === 'sse' });
  const client = new sdk.Client(
    { name: 'gantry', version: options.clientVersion },
    {
      capabilities: askingCapabilities({ mayAsk, maySample }),
      // The old SSE transport came before the new protocol.
      ...(kind === 'sse'
        ? {}
        : {
            versionNegotiation: {
              mode: 'auto' as const,
              ...(kind === 'stdio' ? { probe: { timeoutMs: options.stdioProbeTimeoutMs } } : {}),
            },
          }),
      inputRequired: { autoFulfill: false },
    },
  );
  let isOver = false;
  const lose = (reason: string): void => {
    if (isOver) return;
    isOver = true;
    options.onLost(reason);
  };
  for (const list of ['tools', 'prompts', 'resources'] as const)
    client.setNotificationHandler(`notifications/${list}/list_changed`, options.onListChanged);
  const connecting = client.connect(transport, { timeout: noSdkTimeoutMs });
  try {
    await orAborted(connecting, signal);
  } catch (error) {
    isOver = true;
    await transport.close();
    await client.close();
    throw error;
  }
  const report = (error: Error): void => {
    log.debug(
      { server: name, reason: scrubText(withPlainIssues(error.message)).slice(0, 500) },
      'a connection reported an error',
    );
    // The stream is all there is of this transport, and a new one would be a session that nobody has initialised.
    if (kind === 'sse' && isSseError(error)) void client.close();
  };
  Object.assign(client, { onerror: report, onclose: () => lose('the connection ended') });
  const isModern = client.getProtocolEra() === 'modern';
  const notices = isModern ? listenForChanges(client, name, options) : undefined;
  return {
    client,
    transport: kind,
    protocolVersion: client.getNegotiatedProtocolVersion() ?? null,
    isModern,
    mayAsk,
    maySample,
    tokens: options.tokens,
    channel,
    hasSession: () => transport.sessionId !== undefined,
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      notices?.stop();
      if ('terminateSession' in inner) await endSession(inner as { terminateSession(): Promise<void> }, name, options);
      await client.close();
      await transport.close();
    },
  };
};

/** What a client says it can do, as far as a server may ask it. */
export const askingCapabilities = ({
  mayAsk,
  maySample,
}: Pick<Connection, 'mayAsk' | 'maySample'>): ClientCapabilities => ({
  ...(mayAsk && { elicitation: { form: {} } }),
  ...(maySample && { sampling: {} }),
});

/** A 400 may come from a server that knows the transport but not the version; going back to SSE would hide that. */
const saysNotStreamable = (error: unknown): boolean => {
  const status = statusOf(error);
  if (status === 404 || status === 405) return true;
  if (status !== 400) return false;
  const body = parseJson(bodyOf(error) ?? '');
  const refusal = body.ok && isObject(body.value) ? body.value['error'] : undefined;
  if (!isObject(refusal)) return true;
  return refusal['code'] !== -32_022 && !/protocol.{0,3}version/i.test(String(refusal['message']));
};

const sessionEndTimeoutMs = 1_000;

/** Tells the server that its session is over; one that does not answer soon is not waited for. */
const endSession = async (
  transport: { terminateSession(): Promise<void> },
  name: string,
  { clock, log }: OpenConnectionOptions,
): Promise<void> => {
  const patience = Promise.withResolvers<void>();
  const timer = clock.startTimer(sessionEndTimeoutMs, patience.resolve);
  const told = transport.terminateSession().catch((error: unknown) => {
    log.debug({ server: name, reason: messageOf(error) }, 'a session could not be ended');
  });
  await Promise.race([told, patience.promise]);
  timer.stop();
};
