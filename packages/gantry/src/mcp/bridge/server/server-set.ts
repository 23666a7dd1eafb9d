import { isDeepStrictEqual } from 'node:util';
import { messageOf } from '../../../kernel/errors.ts';
import type { ServerStatus } from '../../wire/server-state.ts';
import type { SavedSurface, ServerCatalog } from '../catalog/server-catalog.ts';
import type { LoadedConfig } from '../config/config-file.ts';
import type { IndexPublisher } from '../index-publisher.ts';
import { createManagedServer } from './create-managed-server.ts';
import type { ConfiguredEntry, ManagedServer, ManagedServerOptions } from './managed-server.ts';

/** The servers that are configured now. Disposing disconnects them all. */
export interface ServerSet extends AsyncDisposable {
  /** By lower-case name; always the present state. */
  readonly directory: ReadonlyMap<string, ManagedServer>;
  all(): ManagedServer[];
  /** Every configured server, also those whose entry cannot be read, by name. */
  statuses(): readonly ServerStatus[];
  /** Makes the servers those of the file: new ones start to connect, gone ones end, changed ones connect anew, equal ones are left alone. */
  apply(loaded: LoadedConfig): Promise<void>;
  /** Resolves when the first attempt of each present server has ended. */
  settled(): Promise<void>;
}

/** Makes an empty set. */
export const createServerSet = (
  options: Omit<ManagedServerOptions, 'onSurface' | 'onWithdrawn' | 'saved' | 'catalog'> & {
    readonly publisher: IndexPublisher;
    readonly catalog: ServerCatalog;
    /** The server with this id is not configured any more. */
    readonly onForgotten: (id: string) => void;
  },
): ServerSet => {
  const { publisher, catalog, onForgotten, ...shared } = options;
  const { log } = shared;
  const servers = new Map<string, ManagedServer>();
  const ending = new Set<Promise<void>>();
  let unreadable: readonly ServerStatus[] = [];

  const add = (name: string, entry: ConfiguredEntry, saved: SavedSurface | undefined): void => {
    const server: ManagedServer = createManagedServer(name, entry, {
      ...shared,
      catalog,
      saved,
      // A server that was removed while it was being connected is not there.
      onSurface: (offer) => {
        if (servers.get(name.toLowerCase()) === server) publisher.announce(offer);
      },
      onWithdrawn: (withdrawn) => publisher.withdraw(withdrawn),
    });
    servers.set(name.toLowerCase(), server);
    if (server.offer) publisher.announce(server.offer);
  };

  const remove = (server: ManagedServer): void => {
    servers.delete(server.name.toLowerCase());
    publisher.withdraw(server.name);
    // Calls that run keep the connection they have, so the end may come later.
    const ended: Promise<void> = Promise.resolve(server[Symbol.asyncDispose]());
    ending.add(ended);
    void ended.then(() => ending.delete(ended));
  };

  const loadSaved = async (): Promise<ReadonlyMap<string, SavedSurface>> => {
    try {
      return await catalog.load();
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'what servers offered last cannot be read; they are connected first');
      return new Map();
    }
  };

  return {
    directory: servers,
    all: () => [...servers.values()],
    statuses: () =>
      [...[...servers.values()].map((server) => server.status()), ...unreadable].sort((a, b) =>
        a.name < b.name ? -1 : 1,
      ),
    apply: async (loaded) => {
      const wanted = new Map<string, { name: string; entry: ConfiguredEntry }>();
      const refused = new Map<string, string>(loaded.refused);
      for (const [name, entry] of loaded.entries) {
        const other = wanted.get(name.toLowerCase());
        if (other) refused.set(name, `Server "${name}" has the name of "${other.name}" in another case; rename one.`);
        else wanted.set(name.toLowerCase(), { name, entry: { ...entry, double: loaded.doubles.get(name) } });
      }
      for (const [name, reason] of refused)
        log.error({ server: name, reason }, `Server "${name}" is refused. ${reason}`);
      unreadable = [...refused].map(([name, reason]) => toRefusedStatus(name, reason));
      const updates: Promise<void>[] = [];
      const saved = await loadSaved();
      const ids = new Set([...wanted.values()].map(({ entry }) => entry.id));
      const known = [...saved.keys(), ...[...servers.values()].map((server) => server.entry.id)];
      for (const server of servers.values()) {
        const now = wanted.get(server.name.toLowerCase());
        if (now?.name !== server.name || now.entry.id !== server.entry.id) remove(server);
        else if (!isDeepStrictEqual(now.entry, server.entry)) updates.push(server.update(now.entry));
      }
      for (const [key, { name, entry }] of wanted) if (!servers.has(key)) add(name, entry, saved.get(entry.id));
      // An entry that cannot be read may be one of those that seem to be gone.
      const isWhole = loaded.refused.size === 0 && !loaded.fromBackup;
      for (const id of isWhole ? new Set(known).difference(ids) : []) {
        catalog.forget(id);
        onForgotten(id);
      }
      shared.onStatus();
      await Promise.all(updates);
    },
    settled: async () => {
      await Promise.all([...servers.values()].map((server) => server.settled));
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([...servers.values()].map((server) => server[Symbol.asyncDispose]()));
      await Promise.all(ending);
      await catalog[Symbol.asyncDispose]();
    },
  };
};

const toRefusedStatus = (name: string, reason: string): ServerStatus => ({
  name,
  id: '',
  state: 'refused',
  transport: 'auto',
  protocolVersion: null,
  tools: 0,
  prompts: 0,
  resources: 0,
  fingerprint: null,
  origin: 'operator',
  lastError: reason,
});
