import { createHash } from 'node:crypto';
import type { FetchLike } from '@modelcontextprotocol/client';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { KeyValue } from '../../../store/key-value.ts';
import type { Secrets } from '../../../store/secrets.ts';
import { normaliseUrl } from '../config/identity.ts';
import type { ConfiguredEntry, ManagedServer } from '../server/managed-server.ts';
import { isStdioEntry } from '../config/server-entry.ts';
import type { CredentialStore } from './credential-store.ts';
import type { SignInTarget, StartedSignIn } from './sign-in.ts';
import { unionOfScopes } from './scopes.ts';
import { finishSignIn, signInAsClient, startSignIn } from './sign-in.ts';
import type { TokenKeeper } from './token-keeper.ts';
import { createTokenKeeper } from './token-keeper.ts';
import { withWholeResponses } from './whole-responses.ts';

/** Where a sign-in goes on; `authorizationUrl` is null when nobody has to go anywhere and it is done. */
export interface SignInStep {
  readonly authorizationUrl: string | null;
  readonly state: string | null;
}

/** A server that can be signed in to, and how it is reached. */
export interface SignInServer {
  readonly server: ManagedServer;
  readonly fetch: FetchLike;
}

/** Signs in to servers, and keeps their tokens. */
export interface SignIns {
  /** The keeper of a server's token; undefined for programs. */
  tokensFor(name: string, entry: ConfiguredEntry, fetch: FetchLike): TokenKeeper | undefined;
  /**
   * Begins a sign-in that comes back to `redirectUrl`, an address of this machine.
   * @throws {GantryError} `invalid_arguments`, `auth_required`
   */
  start(server: ManagedServer, fetch: FetchLike, redirectUrl: string): Promise<SignInStep>;
  /**
   * Finishes one with what came back, also when another process on the store began it, and gives the server's name.
   * @throws {GantryError} `invalid_arguments` when there is no such sign-in; `auth_required`
   */
  finish(
    answer: { readonly state: string; readonly code: string; readonly iss?: string | undefined },
    find: (serverId: string) => SignInServer | undefined,
  ): Promise<string>;
}

/** A sign-in on its way, sealed. */
interface Waiting {
  readonly serverId: string;
  /** It ends when its server moves to another. */
  readonly url: string;
  readonly started: StartedSignIn;
}

const waitsForMs = 10 * 60_000;

/** Makes the desk of sign-ins. */
export const createSignIns = (options: {
  readonly credentials: CredentialStore;
  /** Sign-ins that wait for a person, by the hash of their state, sealed. */
  readonly waiting: KeyValue<string>;
  readonly sealing: Pick<Secrets, 'seal' | 'open'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly log: Log;
}): SignIns => {
  const { credentials, waiting, sealing, env, clock, log } = options;

  const targetOf = (name: string, entry: ConfiguredEntry, fetch: FetchLike): SignInTarget => ({
    name,
    entry,
    url: normaliseUrl(entry.url ?? ''),
    fetch: withWholeResponses(fetch),
    env,
    clock,
  });

  return {
    tokensFor: (name, entry, fetch) => {
      if (isStdioEntry(entry)) return undefined;
      const target = targetOf(name, entry, fetch);
      const isClient = entry.oauth?.grant === 'client_credentials';
      return createTokenKeeper({
        server: name,
        serverId: entry.id,
        url: target.url,
        credentials,
        obtain: isClient ? () => signInAsClient(target) : undefined,
        fetch: target.fetch,
        clock,
        log,
      });
    },
    start: async (server, fetch, redirectUrl) => {
      const { name, entry } = server;
      if (isStdioEntry(entry) || entry.url === undefined)
        throw new GantryError('invalid_arguments', `Server "${name}" is a program; there is nothing to sign in to.`);
      if (!isLoopback(redirectUrl))
        throw new GantryError(
          'invalid_arguments',
          'A sign-in comes back to an address of this machine, such as http://127.0.0.1:8000/callback.',
        );
      const target = targetOf(name, entry, fetch);
      if (entry.oauth?.grant === 'client_credentials') {
        await credentials.put(entry.id, await signInAsClient(target));
        return { authorizationUrl: null, state: null };
      }
      const held = await credentials.get(entry.id, target.url);
      const alsoScope = held?.wantedScope === undefined ? undefined : unionOfScopes(held.scope, held.wantedScope);
      const started = await startSignIn({ ...target, alsoScope }, redirectUrl);
      const { state, authorizationUrl } = started;
      const key = keyOf(state);
      const sealed = sealing.seal(
        JSON.stringify({ serverId: entry.id, url: target.url, started } satisfies Waiting),
        contextOf(key),
      );
      await waiting.sweep();
      await waiting.set(key, sealed, { ttlMs: waitsForMs });
      return { authorizationUrl, state };
    },
    finish: async ({ state, code, iss }, find) => {
      const key = keyOf(state);
      const stored = await waiting.get(key);
      // Whoever deletes it finishes it.
      if (!stored || !(await waiting.delete(key))) throw nothingWaits();
      const { serverId, url, started } = JSON.parse(sealing.open(stored.value, contextOf(key))) as Waiting;
      const found = find(serverId);
      if (!found) throw nothingWaits();
      const { name, entry } = found.server;
      const target = targetOf(name, entry, found.fetch);
      if (target.url !== url) throw nothingWaits();
      await credentials.put(entry.id, await finishSignIn(target, started, { code, iss }));
      return name;
    },
  };
};

const nothingWaits = (): GantryError =>
  new GantryError(
    'invalid_arguments',
    'No sign-in waits for this answer: it was given up, took more than ten minutes, or is done.',
  );

// What comes back through a browser is not what the store is asked for.
const keyOf = (state: string): string => createHash('sha256').update(state).digest('hex');
const contextOf = (key: string): string => `mcp-sign-in/${key}`;

// RFC 8252 section 7.3.
const isLoopback = (url: string): boolean => {
  const parsed = URL.parse(url);
  return parsed?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(parsed.hostname);
};
