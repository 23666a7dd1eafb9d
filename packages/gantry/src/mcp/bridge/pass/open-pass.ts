import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { OpenPass, PassTarget } from '../../wire/pass-port.ts';
import type { OlderSessions } from '../../wire/sessions/older-sessions.ts';
import type { OwnPrograms } from '../../wire/sessions/own-programs.ts';
import { withToken } from '../auth/token-keeper.ts';
import type { OpenCalls } from '../call/open-calls.ts';
import type { ServerDirectory } from '../call/server-directory.ts';
import { notReachable } from '../call/server-directory.ts';
import { identityHashOf } from '../config/identity.ts';
import { expandHeaders, isStdioEntry, isToolAllowed } from '../config/server-entry.ts';
import type { HttpPool } from '../connection/http-pool.ts';
import { credentialsAsked } from '../elicitation/credential-asked.ts';
import { isPlainAddress } from '../elicitation/page-address.ts';
import { questionKind } from '../elicitation/question-kind.ts';
import { readForm } from '../elicitation/form.ts';
import type { ElicitationPolicy } from '../elicitation/policy.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import type { ArgGuards } from '../guards/create-arg-guards.ts';
import { serverNamed } from '../manage/with-server.ts';
import type { ManagedServer, Snapshot } from '../server/managed-server.ts';
import { isObject } from '../../../kernel/json.ts';
import { parameterHeaders } from '../surface/mirrored-headers.ts';
import { lostAnswerOf, notPassedOn } from './not-passed-on.ts';
import { joinShared } from './shared-session.ts';
import { createStartProgram } from './start-program.ts';
import { createLink } from './pass-link.ts';
import { toolsThatNeedTasks } from './tools-that-need-tasks.ts';
import { withinTime } from './within-time.ts';

/** What the way through is made of. */
export interface PassTargetOptions {
  readonly pool: Pick<HttpPool, 'fetchFor'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly argGuards: Pick<ArgGuards, 'rejectionOf'>;
  readonly openCalls: OpenCalls;
  readonly policyOf: (entry: ServerEntry) => ElicitationPolicy;
  /** Sessions with servers of 2025 for single clients, and programs of 2025 that run for them. */
  readonly sessions: Pick<OlderSessions, 'lease'>;
  readonly programs: Pick<OwnPrograms, 'lease' | 'end'>;
  readonly maxResponseBytes: number;
  /** How long a call of the entry's server may be silent. */
  readonly timeoutMsOf: (entry: ServerEntry) => number;
  readonly maxTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a request to a connected server goes through to. */
export type PassTargets = (server: ManagedServer, snapshot: Snapshot) => PassTarget;

/** Makes them; each is the same until its server is connected, listed or configured anew. */
export const createPassTargets = (options: PassTargetOptions): PassTargets => {
  const targets = new WeakMap<Snapshot, { readonly entry: ServerEntry; readonly target: PassTarget }>();
  return (server, snapshot) => {
    let known = targets.get(snapshot);
    if (known?.entry !== server.entry) {
      known = { entry: server.entry, target: toTarget(server, snapshot, options) };
      targets.set(snapshot, known);
    }
    return known.target;
  };
};

/** Makes the way through to the servers of a bridge. */
export const createOpenPass =
  ({ servers, targetOf }: { readonly servers: ServerDirectory; readonly targetOf: PassTargets }): OpenPass =>
  async (name, signal) => {
    const server = serverNamed(servers, name);
    const lease = server.lease() ?? (await leased(server, signal));
    return { target: targetOf(server, lease.snapshot), [Symbol.dispose]: () => lease[Symbol.dispose]() };
  };

const toTarget = (server: ManagedServer, { connection, surface }: Snapshot, options: PassTargetOptions): PassTarget => {
  const { pool, env, argGuards, openCalls, sessions, programs, maxTimeoutMs, clock } = options;
  const { entry } = server;
  const timeoutMs = options.timeoutMsOf(entry);
  const url = new URL(isStdioEntry(entry) ? 'http://program.invalid' : (entry.url ?? ''));
  const own = expandHeaders(entry, env);
  if (entry.auth)
    for (const header of Object.keys(own)) if (header.toLowerCase() === 'authorization') delete own[header];
  const hasAuthorization = Object.keys(own).some((header) => header.toLowerCase() === 'authorization');
  const plain = pool.fetchFor(server.name, { isGuarded: entry.origin === 'agent' });
  const { tokens, transport: kind } = connection;
  const fetch = tokens && !hasAuthorization ? withToken(plain, tokens, url, server.name) : plain;
  const policy = options.policyOf(entry);
  const known = new Set(surface.listed.map(({ name }) => name));
  const needTasks = toolsThatNeedTasks(connection, surface);
  const target: PassTarget = {
    name: server.name,
    identity: identityHashOf(entry),
    era: connection.isModern ? 'modern' : 'legacy',
    isHttp: kind === 'streamable-http',
    link: createLink(server, connection, { openCalls, policy, timeoutMs, maxTimeoutMs }),
    send: async ({ method, headers, body, isTimed = true, signal }) => {
      const send = (ending: AbortSignal): Promise<Response> =>
        fetch(url, {
          method,
          headers: { ...headers, ...own },
          signal: ending,
          ...(body !== undefined && { body }),
        });
      // Whoever only listens waits for as long as it likes.
      const isOpenEnded = method !== 'POST' || headers['mcp-method'] === 'subscriptions/listen';
      try {
        if (isOpenEnded || !isTimed) return await send(signal);
        return await withinTime(send, {
          server: server.name,
          timeoutMs,
          maxTimeoutMs,
          clock,
          requestBody: body,
          isResumable: (headers['mcp-protocol-version'] ?? '') < '2026-07-28',
          signal,
          lostAnswer: (error) => lostAnswerOf(server, error),
        });
      } catch (error) {
        if (signal.aborted || GantryError.is(error)) throw error;
        throw notPassedOn(server, error, { isRequest: method === 'POST' });
      }
    },
    ...(kind !== 'streamable-http' && {
      startProgram: createStartProgram(kind, server, { ...options, fetch: plain, tokens }),
    }),
    leaseShared: async (client, signal) => {
      const lease = server.lease() ?? (await leased(server, signal));
      using held = new DisposableStack();
      held.use(lease);
      const shared = joinShared(server, lease.snapshot.connection, { client, clock, timeoutMs });
      if (shared) {
        held.use(shared);
        const kept = held.move();
        return { session: shared.session, giveBack: () => kept.dispose() };
      }
      throw new GantryError(
        'server_unreachable',
        `Server "${server.name}" does not speak the protocol of 2025 any more.`,
      );
    },
    leaseSession: (use, signal) => (target.startProgram ? programs : sessions).lease({ ...use, target }, signal),
    endSession: (session) => programs.end(target, session),
    isAllowed: (tool) => isToolAllowed(entry, tool),
    hasFilters: (entry.allowedTools?.length ?? 0) > 0 || (entry.deniedTools?.length ?? 0) > 0,
    isPromptAllowed: () => true,
    hidesPrompts: false,
    isKnown: (tool) => known.has(tool),
    needsTask: (tool) => needTasks.has(tool),
    hasGuards: (entry.argGuards?.length ?? 0) > 0,
    rejectionOf: (tool, args) => argGuards.rejectionOf(entry, { server: server.name, tool, args }),
    parameterHeaders: (tool, args) =>
      parameterHeaders(surface.listed.find(({ name }) => name === tool)?.inputSchema, args),
    isDeclined: (params) => isDeclined(params, policy),
    callTimeoutMs: timeoutMs,
    maxCallTimeoutMs: maxTimeoutMs,
    mask: server.maskSecrets,
  };
  return target;
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
  // What Gantry cannot read, it cannot let through either.
  if (!isObject(params)) return true;
  const asking = questionKind(params);
  if ('problem' in asking) return true;
  // A page to open asks nothing that Gantry could look at; its address goes on as it is written, or not at all.
  if (asking.kind === 'page') return !isPlainAddress(params['url']);
  return 'problem' in readForm(params) || credentialsAsked(params, deniedFields).length > 0;
};
