import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { OpenPass, PassTarget } from '../../wire/pass-port.ts';
import { withToken } from '../auth/token-keeper.ts';
import type { OpenCalls } from '../call/open-calls.ts';
import type { ServerDirectory } from '../call/server-directory.ts';
import { notReachable } from '../call/server-directory.ts';
import { expandHeaders, isStdioEntry, isToolAllowed } from '../config/server-entry.ts';
import type { HttpPool } from '../connection/http-pool.ts';
import { isSensitive } from '../elicitation/sensitive-field.ts';
import { readForm } from '../elicitation/form.ts';
import type { ElicitationPolicy } from '../elicitation/policy.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import type { ArgGuards } from '../guards/create-arg-guards.ts';
import { serverNamed } from '../manage/with-server.ts';
import type { ManagedServer, Snapshot } from '../server/managed-server.ts';
import { isObject } from '../../../kernel/json.ts';
import { parameterHeaders } from '../surface/mirrored-headers.ts';
import { notPassedOn } from './not-passed-on.ts';
import { createStartProgram } from './start-program.ts';
import { createLink } from './pass-link.ts';

/** What the way through is made of. */
export interface OpenPassOptions {
  readonly servers: ServerDirectory;
  readonly pool: Pick<HttpPool, 'fetchFor'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly argGuards: Pick<ArgGuards, 'rejectionOf'>;
  readonly openCalls: OpenCalls;
  readonly policyOf: (entry: ServerEntry) => ElicitationPolicy;
  readonly maxResponseBytes: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** Makes the way through to the servers of a bridge. */
export const createOpenPass = (options: OpenPassOptions): OpenPass => {
  // What a request goes through to is the same until the server is connected, listed or configured anew.
  const targets = new WeakMap<Snapshot, { readonly entry: ServerEntry; readonly target: PassTarget }>();
  return async (name, signal) => {
    const server = serverNamed(options.servers, name);
    const lease = server.lease() ?? (await leased(server, signal));
    const { snapshot } = lease;
    let known = targets.get(snapshot);
    if (known?.entry !== server.entry) {
      known = { entry: server.entry, target: toTarget(server, snapshot, options) };
      targets.set(snapshot, known);
    }
    return { target: known.target, [Symbol.dispose]: () => lease[Symbol.dispose]() };
  };
};

const toTarget = (server: ManagedServer, { connection, surface }: Snapshot, options: OpenPassOptions): PassTarget => {
  const { pool, env, argGuards, openCalls } = options;
  const { entry } = server;
  const url = new URL(isStdioEntry(entry) ? 'http://program.invalid' : (entry.url ?? ''));
  const own = expandHeaders(entry, env);
  if (entry.auth)
    for (const header of Object.keys(own)) if (header.toLowerCase() === 'authorization') delete own[header];
  const hasAuthorization = Object.keys(own).some((header) => header.toLowerCase() === 'authorization');
  const plain = pool.fetchFor(server.name, { isGuarded: entry.origin === 'agent' });
  const { tokens } = connection;
  const fetch = tokens && !hasAuthorization ? withToken(plain, tokens, url, server.name) : plain;
  const policy = options.policyOf(entry);
  return {
    name: server.name,
    era: connection.isModern ? 'modern' : 'legacy',
    isHttp: connection.transport === 'streamable-http',
    link: createLink(server, connection, { openCalls, policy }),
    send: async ({ method, headers, body, signal }) => {
      try {
        return await fetch(url, {
          method,
          headers: { ...headers, ...own },
          signal,
          ...(body !== undefined && { body }),
        });
      } catch (error) {
        if (signal.aborted || GantryError.is(error)) throw error;
        throw notPassedOn(server, error, { isRequest: method === 'POST' });
      }
    },
    ...(isStdioEntry(entry) && {
      startProgram: createStartProgram(server, { ...options, fetch: plain, tokens: undefined }),
    }),
    isAllowed: (tool) => isToolAllowed(entry, tool),
    hasFilters: (entry.allowedTools?.length ?? 0) > 0 || (entry.deniedTools?.length ?? 0) > 0,
    rejectionOf: (tool, args) => argGuards.rejectionOf(entry, { server: server.name, tool, args }),
    parameterHeaders: (tool, args) =>
      parameterHeaders(surface.listed.find(({ name }) => name === tool)?.inputSchema, args),
    isDeclined: (params) => isDeclined(params, policy),
    mask: server.maskSecrets,
  };
};

const leased = async (
  server: ManagedServer,
  signal: AbortSignal,
): Promise<Awaited<ReturnType<typeof server.leaseConnected>>> => {
  try {
    return await server.leaseConnected({ signal });
  } catch (error) {
    if (!GantryError.is(error) || error.code !== 'server_unreachable') throw error;
    throw new GantryError(error.code, notReachable(server, error.message), { cause: error });
  }
};

const isDeclined = (params: unknown, { deniedFields }: ElicitationPolicy): boolean => {
  // A page to open asks nothing that Gantry could look at.
  if (isObject(params) && params['mode'] !== undefined && params['mode'] !== 'form') return false;
  const read = readForm(params);
  // What Gantry cannot read, it cannot let through either.
  if ('problem' in read) return true;
  const denied = new Set(deniedFields.map((field) => field.toLowerCase()));
  return read.form.fields.some((field) => isSensitive(field) || denied.has(field.name.toLowerCase()));
};
