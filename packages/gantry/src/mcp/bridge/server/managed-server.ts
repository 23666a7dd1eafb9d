import type { IsOwnListener } from '../../../net/address/own-listeners.ts';
import type { FetchLike } from '@modelcontextprotocol/client';
import type { Clock } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { ServerStatus } from '../../wire/server-state.ts';
import type { BridgeSettings } from '../bridge-options.ts';
import type { TokenKeeper } from '../auth/token-keeper.ts';
import type { SavedSurface, ServerCatalog } from '../catalog/server-catalog.ts';
import type { MaskSecrets } from '../config/entry-secrets.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import type { HttpPool } from '../connection/http-pool.ts';
import type { Answers, Connection } from '../connection/open-connection.ts';
import type { ArgGuards } from '../guards/create-arg-guards.ts';
import type { Surface } from '../surface/surface.ts';

/** An entry with the id that the bridge gave it. */
export type ConfiguredEntry = ServerEntry & {
  readonly id: string;
  /** Why it is not connected although it is right in itself: another entry is this server. */
  readonly double?: string | undefined;
};

/** What a server offers, read at one moment, under one entry. */
export interface Offer {
  readonly name: string;
  readonly entry: ConfiguredEntry;
  readonly identityHash: string;
  readonly surface: Surface;
  /** Whether it spoke the protocol of 2026 when it was last connected; undefined when it was not since the start. */
  readonly isModern?: boolean | undefined;
}

/** What a server offers through one connection. */
export interface Snapshot extends Offer {
  readonly connection: Connection;
}

/** A snapshot that is kept alive while somebody works with it. */
export interface Lease extends Disposable {
  readonly snapshot: Snapshot;
}

/** A configured server. Disposing ends its connections. */
export interface ManagedServer extends AsyncDisposable {
  readonly name: string;
  readonly entry: ConfiguredEntry;
  /** Resolves when the first attempt to connect has ended, well or not; at once for a program that is started on first use. */
  readonly settled: Promise<void>;
  status(): ServerStatus;
  /** Hides what is secret about the server in a text that is logged or shown. */
  readonly maskSecrets: MaskSecrets;
  /** What it offers now, or offered when it was last connected; undefined when that is not known, or must not be offered. */
  readonly offer: Offer | undefined;
  /** The current snapshot, if the server is connected. */
  readonly snapshot: Snapshot | undefined;
  /** Whether it is being disposed: whoever still holds it has to look for one of its name anew. */
  readonly isGone: boolean;
  /** Leases the current snapshot. */
  lease(): Lease | undefined;
  /**
   * Leases a snapshot, connecting first if need be. With `instead`, one that does not use that snapshot's connection: callers that
   * found the same connection broken share one new connection.
   * @throws {GantryError} `server_unreachable` (at once while the server is in quarantine), `auth_required`, `config_invalid`,
   * `server_unknown` once it is gone, or the signal's reason.
   */
  leaseConnected(options: { signal: AbortSignal; instead?: Snapshot | undefined }): Promise<Lease>;
  /** The tools as the server lists them now, filtered. Changes nothing. */
  listToolsNow(snapshot: Snapshot, signal: AbortSignal): Promise<Surface['tools']>;
  /** Connects anew, even if the connection is good, and ends a quarantine. */
  reconnect(): Promise<void>;
  /** The server refused a call for want of a sign-in: its connection is given up, and the next call tries again. */
  lockOut(connection: Connection, reason: string): void;
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
  readonly clientVersion: string;
  /** From 0 to 1; spreads the waits between attempts. */
  readonly random: () => number;
  /** A server whose guards cannot be enforced is refused. */
  readonly argGuards: Pick<ArgGuards, 'problemOf'>;
  /** One that is this process itself is refused too. */
  readonly isOwnListener: IsOwnListener;
  /** The bridge connects no server by itself before that; calls do. */
  readonly connectAfter: Promise<unknown>;
  readonly catalog: Pick<ServerCatalog, 'save'>;
  /** What the server offered when it was last connected. */
  readonly saved: SavedSurface | undefined;
  /** Names of the auth profiles that there are. */
  readonly authProfiles: ReadonlySet<string>;
  /** What the server of an entry may ask in the middle of calls: only what anything could answer. */
  readonly answersFor: (name: string, entry: ServerEntry) => Answers;
  /** The keeper of the server's sign-in. */
  readonly tokensFor: (name: string, entry: ConfiguredEntry, fetch: FetchLike) => TokenKeeper | undefined;
  /** A surface to be told about: a new one, or one that moved. */
  readonly onSurface: (offer: Offer) => void;
  /** The server may no longer be offered. */
  readonly onWithdrawn: (name: string) => void;
  /** Anything that `status()` shows may have changed. */
  readonly onStatus: () => void;
}
