/**
 * One configured server over its whole life. It has at most one current snapshot (a held connection, the entry it serves under, and the
 * surface read from it); whoever works with the server leases a snapshot and uses that one throughout. Everything that replaces the
 * snapshot (connect, refresh, update, close) runs one after another. A replaced connection ends when its last lease is released.
 */
import { orAborted, startDeadline } from '../../../kernel/abort.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { ServerState, ServerStatus } from '../../wire/server-state.ts';
import type { BridgeSettings } from '../bridge-options.ts';
import { identityHashOf } from '../config/identity.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import { isStdioEntry, transportModeOf } from '../config/server-entry.ts';
import type { HttpPool } from '../connection/http-pool.ts';
import type { Connection } from '../connection/open-connection.ts';
import { openConnection } from '../connection/open-connection.ts';
import { loadSdk } from '../connection/sdk.ts';
import { readListedTools, readSurface } from '../surface/read-surface.ts';
import type { Surface } from '../surface/surface.ts';
import { isMoved, toSurface } from '../surface/surface.ts';
import { createCoalescer } from './coalesce.ts';
import { toConnectError } from './connect-error.ts';
import type { HeldConnection } from './held-connection.ts';
import { holdConnection } from './held-connection.ts';
import { refusalOf, warningsOf } from './refusal.ts';

/** An entry with the id that the bridge gave it. */
export type ConfiguredEntry = ServerEntry & { readonly id: string };

/** What a server offers through one connection, read at one moment. */
export interface Snapshot {
  readonly name: string;
  readonly entry: ConfiguredEntry;
  readonly identityHash: string;
  readonly connection: Connection;
  readonly surface: Surface;
}

/** A snapshot that is kept alive while somebody works with it. */
export interface Lease extends Disposable {
  readonly snapshot: Snapshot;
}

/** A configured server. Disposing ends its connections. */
export interface ManagedServer extends AsyncDisposable {
  readonly name: string;
  readonly entry: ConfiguredEntry;
  /** Resolves when the first attempt to connect has ended, well or not. */
  readonly settled: Promise<void>;
  status(): ServerStatus;
  /** The current snapshot, if the server is connected. */
  readonly snapshot: Snapshot | undefined;
  /** Leases the current snapshot. */
  lease(): Lease | undefined;
  /**
   * Leases a snapshot, connecting first if need be. With `instead`, one that does not use that snapshot's connection: callers that
   * found the same connection broken share one new connection.
   * @throws {GantryError} `server_unreachable`, `auth_required`, `config_invalid`, or the signal's reason.
   */
  leaseConnected(options: { signal: AbortSignal; instead?: Snapshot | undefined }): Promise<Lease>;
  /** The tools as the server lists them now, filtered. Changes nothing. */
  listToolsNow(snapshot: Snapshot, signal: AbortSignal): Promise<Surface['tools']>;
  /** Connects anew, even if the connection is good. */
  reconnect(): Promise<void>;
  /** Serves under a changed entry. When the new one cannot be connected, the old connection goes on under the new filters. */
  update(entry: ConfiguredEntry): Promise<void>;
  /** Tries again if the server is down; reads its surface again if that is old. */
  sweep(): Promise<void>;
}

/** What a managed server works with. */
export interface ManagedServerOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly settings: BridgeSettings;
  readonly pool: HttpPool;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A surface to be told about: a new one, or one that moved. */
  readonly onSurface: (snapshot: Snapshot) => void;
  /** The server may no longer be offered. */
  readonly onWithdrawn: (name: string) => void;
  /** Anything that `status()` shows may have changed. */
  readonly onStatus: () => void;
}

const listChangedWindowMs = 500;

/** Starts to connect the server. */
export const createManagedServer = (
  name: string,
  configured: ConfiguredEntry,
  options: ManagedServerOptions,
): ManagedServer => {
  const { clock, log, settings } = options;
  const fetch = options.pool.fetchFor(name);
  const closing = new AbortController();
  let entry = configured;
  let state: ServerState = 'connecting';
  let lastError: string | undefined;
  let current: (Snapshot & { readonly held: HeldConnection }) | undefined;
  // The current connection is still the one of an entry that has been changed since.
  let isOutdated = false;
  let failures = 0;
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

  const setState = (next: ServerState, reason?: string): void => {
    state = next;
    lastError = reason;
    options.onStatus();
  };

  const retire = (held: HeldConnection): void => {
    const ended = held.retire();
    ending.add(ended);
    void ended.then(() => ending.delete(ended));
  };

  const adopt = (held: HeldConnection, lists: Parameters<typeof toSurface>[0]): void => {
    const before = current;
    const surface = toSurface(lists, entry);
    current = { name, entry, identityHash: identityHashOf(entry), connection: held.connection, surface, held };
    if (before && before.held !== held) retire(before.held);
    isOutdated = false;
    failures = 0;
    readAtMs = clock.nowMs();
    setState('connected');
    options.onSurface(current);
  };

  const drop = (): void => {
    if (!current) return;
    retire(current.held);
    current = undefined;
  };

  const onLost = (held: () => HeldConnection | undefined) => (reason: string) => {
    if (closing.signal.aborted || !current || current.held !== held()) return;
    log.warn({ server: name, reason }, `The connection to server "${name}" was lost; it will be connected again.`);
    drop();
    setState('unreachable', reason);
    scheduleRetry();
  };

  /** One attempt: connects and reads the surface, all within the connect time-out. */
  const connectOnce = async (): Promise<void> => {
    const refusal = refusalOf(entry, settings.stdio);
    if (refusal) {
      options.onWithdrawn(name);
      drop();
      setState(refusal.state, refusal.reason);
      throw new GantryError('config_invalid', `Server "${name}" is ${refusal.state}. ${refusal.reason}`);
    }
    if (!current) setState('connecting', lastError);
    // Loading the SDK takes time that is not the server's.
    await loadSdk();
    let phase = 'complete initialize';
    using deadline = startDeadline(clock, settings.connectTimeoutMs, {
      signal: closing.signal,
      onExpiry: () =>
        new GantryError(
          'server_unreachable',
          `Server "${name}" did not ${phase} within ${settings.connectTimeoutMs} ms.`,
          { details: { name } },
        ),
    });
    const { signal } = deadline;
    let held: HeldConnection | undefined;
    const connection = await openConnection(name, entry, {
      clock,
      log,
      fetch,
      env: options.env,
      maxResponseBytes: settings.maxResponseBytes,
      stdioProbeTimeoutMs: Math.min(3_000, Math.ceil(settings.connectTimeoutMs / 2)),
      signal,
      onListChanged: () => refreshes.request(),
      onLost: onLost(() => held),
    });
    held = holdConnection(connection, name, log);
    phase = 'list what it offers';
    try {
      const knownPrompts = current?.surface.prompts ?? [];
      const reading = readSurface(connection, { server: name, serverId: entry.id, log, signal, knownPrompts });
      adopt(held, await orAborted(reading, signal));
    } catch (error) {
      retire(held);
      throw error;
    }
  };

  const connectOrFail = async (): Promise<void> => {
    retryTimer?.stop();
    try {
      await connectOnce();
    } catch (error) {
      const failure = toConnectError(name, error);
      if (!closing.signal.aborted && failure.code !== 'config_invalid') {
        failures += 1;
        if (current) setState('connected', failure.message);
        else setState(failure.code === 'auth_required' ? 'needs_login' : 'unreachable', failure.message);
        log.warn({ server: name, attempt: failures, reason: failure.message }, failure.message);
        if (failure.code !== 'auth_required') scheduleRetry();
      }
      throw failure;
    }
  };

  // The first retries come soon; after that the sweep takes over.
  function scheduleRetry(): void {
    retryTimer?.stop();
    if (failures > settings.connectRetryCount || closing.signal.aborted) return;
    const delayMs = settings.connectRetryBaseDelayMs * 2 ** Math.max(0, failures - 1);
    retryTimer = clock.startTimer(delayMs, () => void connectIfDown().catch(isReported));
  }

  const connectIfDown = (): Promise<void> =>
    exclusively(async () => (current && !isOutdated ? undefined : connectOrFail()));

  /** One new connection for all who found the same one broken, or none at all. */
  const connectInstead = (instead: Connection | undefined): Promise<void> => {
    if (connecting && connecting.instead === instead) return connecting.done;
    const done = exclusively(async () => {
      if (current && current.connection !== instead) return;
      // Who comes meanwhile waits for the new connection; calls that run keep the old one.
      drop();
      await connectOrFail();
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
      try {
        const lists = await readSurface(before.connection, {
          server: name,
          serverId: entry.id,
          log,
          signal: deadline.signal,
          knownPrompts: before.surface.prompts,
        });
        if (current !== before) return;
        readAtMs = clock.nowMs();
        const surface = toSurface(lists, entry);
        if (!isMoved(before.surface, surface)) return;
        current = { ...before, surface };
        options.onStatus();
        options.onSurface(current);
      } catch (error) {
        log.warn({ server: name, reason: messageOf(error) }, `The lists of server "${name}" cannot be read now.`);
      }
    });

  const refreshes = createCoalescer(clock, listChangedWindowMs, refresh);

  const toLease = (snapshot: NonNullable<typeof current>): Lease => ({
    snapshot,
    [Symbol.dispose]: snapshot.held.hold(),
  });

  const update = async (changed: ConfiguredEntry): Promise<void> => {
    entry = changed;
    failures = 0;
    warn();
    try {
      await connectOrFail();
    } catch (error) {
      if (!current) return;
      log.warn(
        { server: name, reason: messageOf(error) },
        `Server "${name}" goes on under its old connection and new filters.`,
      );
      isOutdated = true;
      adoptFilters();
    }
  };

  const adoptFilters = (): void => {
    if (!current) return;
    current = { ...current, entry, surface: toSurface(current.surface, entry) };
    options.onSurface(current);
  };

  const warn = (): void => {
    for (const warning of warningsOf(name, entry)) log.warn({ server: name }, warning);
    const refusal = refusalOf(entry, settings.stdio);
    if (refusal?.state === 'refused') log.error({ server: name }, `Server "${name}" is refused. ${refusal.reason}`);
    if (refusal?.state === 'skipped') log.warn({ server: name }, `Server "${name}" is skipped. ${refusal.reason}`);
  };

  warn();
  const settled = connectInstead(undefined).catch(isReported);

  return {
    name,
    get entry() {
      return entry;
    },
    settled,
    status: () => ({
      name,
      id: entry.id,
      state,
      transport: current?.connection.transport ?? wantedTransport(entry),
      protocolVersion: current?.connection.protocolVersion ?? null,
      tools: current?.surface.tools.length ?? 0,
      prompts: current?.surface.prompts.length ?? 0,
      resources: current ? current.surface.resources.length + current.surface.templates.length : 0,
      fingerprint: current?.surface.fingerprint ?? null,
      origin: entry.origin ?? 'operator',
      ...(lastError === undefined ? {} : { lastError }),
    }),
    get snapshot() {
      return current;
    },
    lease: () => (current ? toLease(current) : undefined),
    leaseConnected: async ({ signal, instead }) => {
      for (;;) {
        if (current && current.connection !== instead?.connection) return toLease(current);
        await orAborted(connectInstead(instead?.connection), signal);
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
    reconnect: () => exclusively(connectOrFail),
    update: (changed) => exclusively(() => update(changed)),
    sweep: async () => {
      const { surfaceRefreshIntervalSeconds } = settings;
      const isDown = isOutdated || (!current && state === 'unreachable');
      if (isDown && failures > settings.connectRetryCount) await connectIfDown();
      else if (
        current &&
        surfaceRefreshIntervalSeconds > 0 &&
        clock.nowMs() - readAtMs >= surfaceRefreshIntervalSeconds * 1000
      )
        await refresh();
    },
    [Symbol.asyncDispose]: async () => {
      closing.abort(new GantryError('stopped', `Server "${name}" is being disconnected.`));
      retryTimer?.stop();
      refreshes[Symbol.dispose]();
      await tail;
      drop();
      await Promise.all(ending);
    },
  };
};

// Every failure has been logged and is in the status.
const isReported = (): void => {};

const wantedTransport = (entry: ServerEntry): ServerStatus['transport'] =>
  isStdioEntry(entry) ? 'stdio' : transportModeOf(entry);
