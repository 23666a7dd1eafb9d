/**
 * One configured server over its whole life. It has at most one current snapshot (a held connection, the entry it serves under, and the
 * surface read from it); whoever works with the server leases a snapshot and uses that one throughout. Everything that replaces the
 * snapshot (connect, refresh, update, idle stop, close) runs one after another. A replaced connection ends when its last lease is
 * released. What the server offers outlives its connection, and starts with what was kept of it: tools are offered while it connects,
 * and a program is started when it is first used.
 */
import { orAborted, startDeadline } from '../../../kernel/abort.ts';
import type { Timer } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { ServerState, ServerStatus } from '../../wire/server-state.ts';
import { maskSecretsOf, withSecretsMasked } from '../config/entry-secrets.ts';
import type { TokenKeeper } from '../auth/token-keeper.ts';
import { identityHashOf } from '../config/identity.ts';
import type { MaskSecrets } from '../config/entry-secrets.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import { isStdioEntry, transportModeOf } from '../config/server-entry.ts';
import type { Connection } from '../connection/open-connection.ts';
import { readListedTools, readSurface } from '../surface/read-surface.ts';
import type { Surface } from '../surface/surface.ts';
import { isMoved, toSurface } from '../surface/surface.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { createCoalescer } from './coalesce.ts';
import { connectOnce } from './connect-once.ts';
import { inQuarantine, serverGone, toConnectError } from './connect-error.ts';
import type { HeldConnection } from './held-connection.ts';
import { createIdleStop } from './idle-stop.ts';
import type { Refusal } from './refusal.ts';
import { refusalOf, warningsOf } from './refusal.ts';
import type { ConfiguredEntry, Lease, ManagedServer, ManagedServerOptions, Offer, Snapshot } from './managed-server.ts';

const listChangedWindowMs = 500;
// A connection that ends sooner has not shown that the server works.
const provenAfterMs = 10_000;
// An attempt on behalf of a call that fails sooner costs nobody anything, so it does not count.
const slowAttemptMs = 1_000;

/** Who wants a connection: the bridge by itself, or a call. */
type Wanting = 'bridge' | 'call';

/** Starts to connect the server, unless it is a program of which it is known what it offers. */
export const createManagedServer = (
  name: string,
  configured: ConfiguredEntry,
  options: ManagedServerOptions,
): ManagedServer => {
  const { clock, settings, catalog } = options;
  const closing = new AbortController();
  const breaker = createCircuitBreaker({
    clock,
    retryCount: settings.connectRetryCount,
    retryBaseDelayMs: settings.connectRetryBaseDelayMs,
    coolDownMs: settings.quarantineSeconds * 1000,
    random: options.random,
  });
  let entry = configured;
  let tokens: TokenKeeper | undefined;
  const maskFor = (one: ConfiguredEntry): MaskSecrets => maskSecretsOf(one, options.env, () => tokens?.secrets() ?? []);
  // A connection may outlive the entry it was made for, by one.
  let masks: readonly MaskSecrets[] = [maskFor(entry)];
  const mask: MaskSecrets = (text) => masks.reduce((masked, one) => one(masked), text);
  const log = withSecretsMasked(options.log, mask);
  let state: ServerState = 'connecting';
  let lastError: string | undefined;
  let offer = offerOf(name, entry, options);
  let current: (Snapshot & { readonly held: HeldConnection; readonly sinceMs: number }) | undefined;
  // The current connection is still the one of an entry that has been changed since.
  let isOutdated = false;
  let readAtMs = 0;
  let retryTimer: Timer | undefined;
  let tail: Promise<unknown> = Promise.resolve();
  let connecting: { readonly instead: Connection | undefined; readonly done: Promise<void> } | undefined;
  const ending = new Set<Promise<void>>();

  const exclusively = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = tail.then(work);
    tail = mine.catch(() => undefined);
    return mine;
  };

  const refused = (): Refusal | undefined => refusalOf(entry, { ...options, stdio: settings.stdio });

  const setState = (next: ServerState, reason?: string): void => {
    state = next;
    lastError = reason;
    options.onStatus();
  };

  const drop = (): void => {
    if (!current) return;
    const ended = current.held.retire();
    current = undefined;
    ending.add(ended);
    void ended.then(() => ending.delete(ended));
  };

  const publish = (surface: Surface): void => {
    const isModern = current ? current.connection.isModern : offer?.isModern;
    offer = { name, entry, identityHash: identityHashOf(entry), surface, isModern };
    if (current) current = { ...current, ...offer };
    options.onSurface(offer);
  };

  const keep = (): void => {
    if (!offer) return;
    const { tools: _tools, toolFingerprints: _byTool, fingerprint, ...lists } = offer.surface;
    catalog.save(entry.id, { identityHash: offer.identityHash, fingerprint, lists });
  };

  const idle = createIdleStop(clock, settings.stdioIdleSeconds * 1000, () => {
    void exclusively(async () => {
      if (!current || idle.isUsed() || current.connection.transport !== 'stdio') return;
      drop();
      setState('idle');
    });
  });

  const onLost = (held: HeldConnection | undefined, reason: string): void => {
    if (closing.signal.aborted || !current || current.held !== held) return;
    log.warn({ server: name, reason }, `The connection to server "${name}" was lost; it will be connected again.`);
    if (clock.elapsedMs() - current.sinceMs < provenAfterMs) breaker.failed();
    else breaker.reset();
    drop();
    setState('unreachable', reason);
    scheduleRetry();
  };

  const connect = async (): Promise<void> => {
    // What waited for its turn, or still holds this server, would start a program that nobody is to have any more.
    if (closing.signal.aborted) throw serverGone(name);
    const refusal = refused();
    if (refusal) {
      options.onWithdrawn(name);
      offer = undefined;
      drop();
      setState(refusal.state, refusal.reason);
      throw new GantryError('config_invalid', `Server "${name}" is ${refusal.state}. ${refusal.reason}`);
    }
    if (!current) setState('connecting', lastError);
    const { held, lists, problem } = await connectOnce(
      {
        name,
        entry,
        knownPrompts: offer?.surface.prompts ?? [],
        signal: closing.signal,
        onListChanged: () => refreshes.request(),
        onLost,
      },
      {
        ...options,
        log,
        tokensFor: (...args) => (tokens = options.tokensFor(...args)),
      },
    );
    drop();
    const surface = toSurface(lists, entry);
    const { connection } = held;
    const identityHash = identityHashOf(entry);
    current = { name, entry, identityHash, surface, connection, held, sinceMs: clock.elapsedMs() };
    isOutdated = false;
    breaker.close();
    stopRetry();
    readAtMs = clock.nowMs();
    setState('connected', problem);
    publish(surface);
    keep();
    if (connection.transport === 'stdio') idle.restart();
  };

  const connectOrFail = async (wanting: Wanting): Promise<void> => {
    const startedMs = clock.elapsedMs();
    try {
      await connect();
    } catch (error) {
      const failure = toConnectError(name, error, mask);
      if (!closing.signal.aborted && failure.code !== 'config_invalid') report(failure, wanting, startedMs);
      throw failure;
    }
  };

  const report = (failure: GantryError, wanting: Wanting, startedMs: number): void => {
    // A server that wants a sign-in is not down, and trying again does not help.
    const needsLogin = failure.code === 'auth_required';
    if (!needsLogin && (wanting === 'bridge' || clock.elapsedMs() - startedMs >= slowAttemptMs)) {
      breaker.failed();
      stopRetry();
    }
    // Nobody can use a server whose profile gives no token; it is announced again once it does.
    if (entry.auth && !current) options.onWithdrawn(name);
    if (current) setState('connected', failure.message);
    else setState(needsLogin ? 'needs_login' : 'unreachable', failure.message);
    log.warn({ server: name, failures: breaker.failures, reason: failure.message }, failure.message);
    if (!needsLogin) scheduleRetry();
  };

  const stopRetry = (): void => {
    retryTimer?.stop();
    retryTimer = undefined;
  };

  // The first retries come soon; after that the server is left alone for a while, or until the sweep.
  function scheduleRetry(): void {
    if (retryTimer || closing.signal.aborted) return;
    const openForMs = breaker.openForMs();
    if (openForMs > 0 && !current) setState('quarantined', lastError);
    if (openForMs > 0 ? settings.reconnectSweepIntervalSeconds <= 0 : breaker.failures > settings.connectRetryCount)
      return;
    retryTimer = clock.startTimer(openForMs > 0 ? openForMs : breaker.retryDelayMs(), () => {
      retryTimer = undefined;
      void connectIfDown().catch(isReported);
    });
  }

  const connectIfDown = (): Promise<void> =>
    exclusively(async () => (current && !isOutdated ? undefined : connectOrFail('bridge')));

  /** One new connection for all who found the same one broken, or none at all. */
  const connectInstead = (instead: Connection | undefined, wanting: Wanting): Promise<void> => {
    if (connecting && connecting.instead === instead) return connecting.done;
    const done = exclusively(async () => {
      if (current && current.connection !== instead) return;
      // Who comes meanwhile waits for the new connection; calls that run keep the old one.
      drop();
      await connectOrFail(wanting);
    });
    const mine = { instead, done };
    connecting = mine;
    const forget = (): void => {
      if (connecting === mine) connecting = undefined;
    };
    done.then(forget, forget);
    return done;
  };

  const refresh = (): Promise<void> =>
    exclusively(async () => {
      const before = current;
      if (!before || closing.signal.aborted) return;
      using deadline = startDeadline(clock, settings.connectTimeoutMs, { signal: closing.signal });
      let problem: string | undefined;
      try {
        const lists = await readSurface(before.connection, {
          server: name,
          serverId: entry.id,
          log,
          signal: deadline.signal,
          knownPrompts: before.surface.prompts,
          onProblem: (text) => void (problem ??= text),
        });
        if (current !== before) return;
        readAtMs = clock.nowMs();
        // Why the server is not served under its new entry is not to be lost.
        if (!isOutdated && problem !== lastError) setState('connected', problem);
        const surface = toSurface(lists, entry);
        if (!isMoved(before.surface, surface)) return;
        publish(surface);
        keep();
        options.onStatus();
      } catch (error) {
        log.warn({ server: name, reason: messageOf(error) }, `The lists of server "${name}" cannot be read now.`);
      }
    });

  const refreshes = createCoalescer(clock, listChangedWindowMs, refresh);

  const toLease = (snapshot: NonNullable<typeof current>): Lease => {
    const release = snapshot.held.hold();
    const leave = snapshot.connection.transport === 'stdio' ? idle.use() : undefined;
    return {
      snapshot,
      [Symbol.dispose]: () => {
        release();
        leave?.();
      },
    };
  };

  const update = async (changed: ConfiguredEntry): Promise<void> => {
    const isSame = identityHashOf(changed) === identityHashOf(entry);
    entry = changed;
    masks = [maskFor(changed), ...masks.slice(0, 1)];
    breaker.reset();
    stopRetry();
    warn();
    // Nothing that reaches the program changed: it need not be started to serve under the new entry.
    if (state === 'idle' && isSame && offer && !refused()) {
      publish(toSurface(offer.surface, entry));
      return;
    }
    try {
      await connectOrFail('bridge');
    } catch (error) {
      if (offer) publish(toSurface(offer.surface, entry));
      if (!current) return;
      log.warn(
        { server: name, reason: messageOf(error) },
        `Server "${name}" goes on under its old connection and new filters.`,
      );
      isOutdated = true;
    }
  };

  const warn = (): void => {
    for (const warning of warningsOf(name, entry)) log.warn({ server: name }, warning);
    const refusal = refused();
    if (refusal?.state === 'refused') log.error({ server: name }, `Server "${name}" is refused. ${refusal.reason}`);
    if (refusal?.state === 'skipped') log.warn({ server: name }, `Server "${name}" is skipped. ${refusal.reason}`);
  };

  const nextAttempt = (): string =>
    state === 'quarantined' ? ` It is left alone for another ${Math.ceil(breaker.openForMs() / 1000)} s.` : '';

  warn();
  const startsOnUse = offer !== undefined && isStdioEntry(entry);
  if (startsOnUse) state = 'idle';
  const settled = startsOnUse
    ? Promise.resolve()
    : options.connectAfter.then(() => connectInstead(undefined, 'bridge')).catch(isReported);

  return {
    name,
    get entry() {
      return entry;
    },
    settled,
    maskSecrets: mask,
    status: () => ({
      name,
      id: entry.id,
      state,
      transport: current?.connection.transport ?? wantedTransport(entry),
      protocolVersion: current?.connection.protocolVersion ?? null,
      ...countsOf(offer?.surface),
      ...(entry.family && { family: entry.family }),
      origin: entry.origin ?? 'operator',
      ...(lastError === undefined ? {} : { lastError: lastError + nextAttempt() }),
    }),
    get offer() {
      return offer;
    },
    get snapshot() {
      return current;
    },
    get isGone() {
      return closing.signal.aborted;
    },
    lease: () => (current ? toLease(current) : undefined),
    leaseConnected: async ({ signal, instead }) => {
      for (;;) {
        if (closing.signal.aborted) throw serverGone(name);
        if (current && current.connection !== instead?.connection) return toLease(current);
        const openForMs = current ? 0 : breaker.openForMs();
        if (openForMs > 0) throw inQuarantine(name, openForMs, lastError);
        await orAborted(connectInstead(instead?.connection, 'call'), signal);
      }
    },
    listToolsNow: async (snapshot, signal) =>
      toSurface(
        {
          ...snapshot.surface,
          listed: await readListedTools(snapshot.connection, { server: name, log, signal }),
        },
        snapshot.entry,
      ).tools,
    reconnect: () =>
      exclusively(() => {
        breaker.reset();
        stopRetry();
        return connectOrFail('bridge');
      }),
    lockOut: (connection, reason) => {
      if (current?.connection !== connection) return;
      drop();
      if (entry.auth) options.onWithdrawn(name);
      setState('needs_login', reason);
    },
    update: (changed) => exclusively(() => update(changed)),
    sweep: async () => {
      const { surfaceRefreshIntervalSeconds } = settings;
      const isDown =
        isOutdated ||
        (!current &&
          (state === 'unreachable' || (state === 'needs_login' && (entry.auth ?? (await tokens?.isSignedInAnew?.())))));
      if (isDown && !retryTimer) await connectIfDown();
      else if (
        current &&
        surfaceRefreshIntervalSeconds > 0 &&
        clock.nowMs() - readAtMs >= surfaceRefreshIntervalSeconds * 1000
      )
        await refresh();
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort(new GantryError('stopped', `Server "${name}" is being disconnected.`));
      stopRetry();
      refreshes[Symbol.dispose]();
      await tail;
      idle[Symbol.dispose]();
      drop();
      await Promise.all(ending);
    },
  };
};

// Every failure has been logged and is in the status.
const isReported = (): void => {};

const wantedTransport = (entry: ServerEntry): ServerStatus['transport'] =>
  isStdioEntry(entry) ? 'stdio' : transportModeOf(entry);

const countsOf = (
  surface: Surface | undefined,
): Pick<ServerStatus, 'tools' | 'prompts' | 'resources' | 'fingerprint'> => ({
  tools: surface?.tools.length ?? 0,
  prompts: surface?.prompts.length ?? 0,
  resources: surface ? surface.resources.length + surface.templates.length : 0,
  fingerprint: surface?.fingerprint ?? null,
});

/** What was kept of the server, if it is still this server and may be offered. */
const offerOf = (name: string, entry: ConfiguredEntry, options: ManagedServerOptions): Offer | undefined => {
  const { saved, settings } = options;
  const identityHash = identityHashOf(entry);
  if (saved?.identityHash !== identityHash || refusalOf(entry, { ...options, stdio: settings.stdio })) return undefined;
  const { lists } = saved;
  const surface = toSurface({ ...lists, identity: { ...lists.identity, name, id: entry.id } }, entry);
  return { name, entry, identityHash, surface };
};
