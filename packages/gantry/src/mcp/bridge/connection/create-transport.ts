import type { FetchLike, Transport } from '@modelcontextprotocol/client';
import type { TokenKeeper } from '../auth/token-keeper.ts';
import { withToken } from '../auth/token-keeper.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { ServerStatus } from '../../wire/server-state.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import { expandHeaders } from '../config/server-entry.ts';
import { withoutAcknowledgedRequests } from './answer-check.ts';
import { withLeanCalls } from './lean-calls.ts';
import { safeEnvironment } from './safe-environment.ts';
import { loadSdk } from './sdk.ts';
import { createStdioTransport } from './stdio-transport.ts';

/** The ways to reach a server. */
export type TransportKind = Exclude<ServerStatus['transport'], 'auto'>;

/** What transports need. */
export interface TransportOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly fetch: FetchLike;
  /** Of the server's sign-in; absent for programs. */
  readonly tokens: TokenKeeper | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly maxResponseBytes: number;
}

/** Makes the transport of one kind to an entry's server; it has not been started. */
export const createTransport = async (
  kind: TransportKind,
  name: string,
  entry: ServerEntry,
  options: TransportOptions,
): Promise<Transport> => {
  if (kind === 'stdio')
    return createStdioTransport({
      server: name,
      command: entry.command ?? '',
      args: entry.args ?? [],
      env: safeEnvironment(options.env, entry.env),
      cwd: entry.cwd,
      maxResponseBytes: options.maxResponseBytes,
      clock: options.clock,
      log: options.log,
    });
  const { SSEClientTransport, StreamableHTTPClientTransport } = await loadSdk();
  const { fetch, tokens } = options;
  const url = new URL(entry.url ?? '');
  const headers = expandHeaders(entry, options.env);
  const named = Object.keys(headers).filter((header) => header.toLowerCase() === 'authorization');
  // A profile goes before a token that the operator wrote down, and that before one from a sign-in.
  if (entry.auth) for (const header of named) delete headers[header];
  const isNamed = named.length > 0 && !entry.auth;
  const signsIn = !isNamed && tokens !== undefined && (await tokens.isSignedIn());
  const ownFetch = signsIn ? withToken(fetch, tokens, url, name) : fetch;
  const requestInit = { headers };
  if (kind === 'sse') return new SSEClientTransport(url, { fetch: ownFetch, requestInit });
  return withLeanCalls({
    url,
    headers,
    fetch: withoutAcknowledgedRequests(ownFetch, name),
    open: (given) => new StreamableHTTPClientTransport(url, { fetch: given, requestInit }),
  });
};
