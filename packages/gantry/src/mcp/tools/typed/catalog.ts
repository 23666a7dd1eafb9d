import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import { fingerprint } from '../../../schema/fingerprint.ts';
import { distinctTypedName } from '../../../schema/tool-name.ts';
import type { ToolEntry } from '../../../search/tool-fields.ts';
import type { Tool, ToolExecutor } from '../../../tool/executor.ts';
import { toRegistration } from '../../../tool/registration.ts';
import type { McpServersIndexed, ServerSummary } from '../../wire/index-message.ts';
import type { DownstreamPrompt, DownstreamTool, ServiceDetails } from '../../wire/manage-messages.ts';
import type { ServerIndex } from '../server-index.ts';
import { toTypedPrompt } from './typed-prompt.ts';
import { toTypedTool } from './typed-tool.ts';

/** What the catalog is made of. */
export interface CatalogOptions {
  readonly index: ServerIndex;
  /** A server's tools with their schemas; see `ManageClient.details`. */
  readonly details: (serverName: string) => Promise<Pick<ServiceDetails, 'tools' | 'prompts'>>;
  /** Runs every typed tool by its target. */
  readonly toolExecutor: ToolExecutor;
  /** Fills a prompt in. */
  readonly promptExecutor: (server: string, prompt: string) => ToolExecutor;
  readonly log: Log;
  /** Whether another tool has that name. */
  readonly isTaken: (name: string) => boolean;
}

/** A server's tool or prompt as a tool of its own. The object stays the same as long as the tool does. */
export interface CatalogEntry {
  readonly kind: 'tool' | 'prompt';
  readonly server: string;
  readonly serverId: string;
  /** The server's own name for it. */
  readonly name: string;
  readonly typedName: string;
  /** The server's own description. */
  readonly description: string;
  /** Moves when the tool, or the server behind it, becomes another. */
  readonly print: string;
  readonly tool: Tool;
  /** As the search sees it. */
  readonly search: ToolEntry;
}

/** Told what changed, after the catalog holds it. */
export type CatalogListener = (change: {
  readonly removedServers: readonly string[];
  readonly removed: readonly CatalogEntry[];
  readonly added: readonly CatalogEntry[];
}) => void;

/** The tools and prompts of all connected servers as tools of their own, kept up with the index. */
export interface Catalog extends Disposable {
  /** Grows with every change of its contents. */
  readonly version: number;
  /** The tools, by server, then by the server's own name, in code-unit order; prompts are not among them. */
  tools(): readonly CatalogEntry[];
  get(typedName: string): CatalogEntry | undefined;
  /** A server's tools and prompts that have a typed name, in the server's own order; its name in any case. */
  ofServer(server: string): readonly CatalogEntry[];
  /** Every typed name. */
  names(): Iterable<string>;
  /** Which server's tool had that typed name, when it has it no more. */
  formerly(typedName: string): { readonly server: string; readonly name: string } | undefined;
  onChange(listener: CatalogListener): () => void;
}

interface HeldServer {
  readonly serverId: string;
  readonly fingerprint: string | null;
  /** By kind and the server's own name, in the server's order. */
  readonly entries: ReadonlyMap<string, CatalogEntry>;
}

const formerNamesKept = 2_000;

/**
 * Starts a catalog on an index. A server whose fingerprint or id moved is asked for its tools; what cannot be had leaves
 * what is there. Names depend on what is there alone, never on the order in which it came.
 */
export const createCatalog = (options: CatalogOptions): Catalog => {
  const { index, details, log, isTaken } = options;
  const servers = new Map<string, HeldServer>();
  const skipped = new Set<string>();
  const told = new Set<string>();
  const listeners = new Set<CatalogListener>();
  const former = new Map<string, { readonly server: string; readonly name: string }>();
  let byName: ReadonlyMap<string, CatalogEntry> = new Map();
  let sorted: readonly CatalogEntry[] = [];
  let byServer = new Map<string, CatalogEntry[]>();
  let version = 0;

  const skip = (name: string, server: string, reason: string): void => {
    const key = `${server}\n${name}`;
    if (skipped.has(key)) return;
    skipped.add(key);
    log.warn({ tool: name, server }, `a typed tool was skipped: ${reason}`);
  };

  const make = (summary: ServerSummary, given: Given, before: CatalogEntry | undefined): CatalogEntry | undefined => {
    const { serverName: server, serverId } = summary;
    const { kind, item } = given;
    const print = fingerprint([serverId, kind, item]);
    if (before?.print === print) return before;
    const { name } = item;
    try {
      const tool =
        given.kind === 'tool'
          ? toTypedTool(server, given.item, options.toolExecutor)
          : toTypedPrompt(server, given.item, options.promptExecutor(server, name));
      const { name: typedName, inputSchema, title } = tool.registration;
      const description = item.description ?? '';
      const serverText = `${summary.displayName ?? ''} ${summary.summary}`.trim();
      const search = { id: typedName, server, name, typedName, title, description, serverText, inputSchema, kind };
      return { kind, server, serverId, name, typedName, description, print, tool, search };
    } catch (error) {
      skip(name, server, messageOf(error));
      return undefined;
    }
  };

  const hold = (summary: ServerSummary, offered: readonly Given[]): void => {
    const before = servers.get(summary.serverName)?.entries;
    const entries = new Map<string, CatalogEntry>();
    for (const given of offered) {
      const key = `${given.kind} ${given.item.name}`;
      const made = entries.has(key) ? undefined : make(summary, given, before?.get(key));
      if (made) entries.set(key, made);
    }
    servers.set(summary.serverName, { serverId: summary.serverId, fingerprint: summary.fingerprint, entries });
  };

  const hasMoved = ({ serverName, serverId, fingerprint: print }: ServerSummary): boolean => {
    const known = servers.get(serverName);
    // Without a fingerprint nothing can be said about change.
    return print === null || known?.fingerprint !== print || known.serverId !== serverId;
  };

  const offeredBy = async (server: string): Promise<readonly Given[] | undefined> => {
    try {
      const { tools, prompts } = await details(server);
      return [
        ...tools.map((item): Given => ({ kind: 'tool', item })),
        ...prompts.map((item): Given => ({ kind: 'prompt', item })),
      ];
    } catch (error) {
      const facts = { server, reason: messageOf(error) };
      log.warn(facts, 'the tools of a server could not be read; those known before stay');
      return undefined;
    }
  };

  /** An entry under another name; the object stays the same as long as the entry does. */
  const renamed = new WeakMap<CatalogEntry, CatalogEntry>();
  const underDistinctName = (entry: CatalogEntry): CatalogEntry => {
    let other = renamed.get(entry);
    if (!other) {
      const typedName = distinctTypedName(entry.typedName, entry.kind, entry.server, entry.name);
      const registration = toRegistration({ ...entry.tool.registration, name: typedName });
      const search = { ...entry.search, id: typedName, typedName };
      other = { ...entry, typedName, search, tool: { ...entry.tool, registration } };
      renamed.set(entry, other);
    }
    return other;
  };

  /**
   * Gives each entry its name. Of several that come to the same one, the one whose own name it is keeps it, else the first
   * by kind, server and name; the others, and those whose name another tool has, get a distinct one.
   */
  const nameAll = (): ReadonlyMap<string, CatalogEntry> => {
    const all = [...servers.values()].flatMap(({ entries }) => [...entries.values()]);
    const named = new Map<string, CatalogEntry>();
    for (const [typedName, group] of Map.groupBy(all, (entry) => entry.typedName)) {
      const [first, ...others] = group.length === 1 ? group : group.toSorted(byClaim);
      const renaming = isTaken(typedName) ? group : others;
      if (first && !renaming.includes(first)) named.set(typedName, first);
      for (const entry of renaming) {
        const other = underDistinctName(entry);
        named.set(other.typedName, other);
        tell(other);
      }
    }
    return named;
  };

  const tell = ({ typedName, server, name }: CatalogEntry): void => {
    if (told.has(typedName)) return;
    told.add(typedName);
    log.info(
      { server, tool: name, typedName },
      'a tool goes under a distinct name, because its own belongs to another',
    );
  };

  const settle = (removedServers: readonly string[]): void => {
    const before = byName;
    byName = nameAll();
    const removed = [...before.values()].filter((entry) => byName.get(entry.typedName) !== entry);
    const added = [...byName.values()].filter((entry) => before.get(entry.typedName) !== entry);
    if (removed.length + added.length + removedServers.length === 0) return;
    for (const { typedName, server, name } of removed)
      if (!byName.has(typedName)) former.set(typedName, { server, name });
    for (const { typedName } of added) former.delete(typedName);
    for (const name of former.keys()) if (former.size > formerNamesKept) former.delete(name);
    sorted = [...byName.values()].filter(({ kind }) => kind === 'tool').sort(byServerThenName);
    byServer = Map.groupBy(byName.values(), ({ server }) => server.toLowerCase());
    version += 1;
    for (const listener of listeners) listener({ removedServers, removed, added });
  };

  const unlisten = index.onMessage(async (message: McpServersIndexed) => {
    for (const server of message.removedServers) servers.delete(server);
    const moved = message.servers.filter(hasMoved);
    const read = await Promise.all(moved.map(({ serverName }) => offeredBy(serverName)));
    // In the order of the message, not of the answers, so that the same servers always give the same names.
    for (const [at, summary] of moved.entries()) {
      const offered = read[at];
      if (offered) hold(summary, offered);
    }
    settle(message.removedServers);
  });

  return {
    get version() {
      return version;
    },
    tools: () => sorted,
    get: (typedName) => byName.get(typedName),
    ofServer: (server) => byServer.get(server.toLowerCase()) ?? [],
    names: () => byName.keys(),
    formerly: (typedName) => former.get(typedName),
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    [Symbol.dispose]: unlisten,
  };
};

type Given =
  | { readonly kind: 'tool'; readonly item: DownstreamTool }
  | { readonly kind: 'prompt'; readonly item: DownstreamPrompt };

/** Who has the better claim to a name that several come to. */
const byClaim = (a: CatalogEntry, b: CatalogEntry): number =>
  Number(isOwnName(b)) - Number(isOwnName(a)) || compare(b.kind, a.kind) || byServerThenName(a, b);

const isOwnName = ({ kind, server, name, typedName }: CatalogEntry): boolean =>
  kind === 'tool' && typedName === `${server}__${name}`;

/** The order in which the tools of servers are listed everywhere, whatever order they came in. */
export const byServerThenName = (a: CatalogEntry, b: CatalogEntry): number =>
  compare(a.server, b.server) || compare(a.name, b.name);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
