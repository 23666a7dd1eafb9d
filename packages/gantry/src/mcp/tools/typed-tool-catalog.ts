import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { fingerprint } from '../../schema/fingerprint.ts';
import type { Tool, ToolExecutor } from '../../tool/executor.ts';
import type { ToolRegistry } from '../../tool/registry.ts';
import type { McpServersIndexed, ServerSummary } from '../wire/index-message.ts';
import type { DownstreamTool, ServiceDetails } from '../wire/manage-messages.ts';
import type { ServerIndex } from './server-index.ts';
import { toTypedTool } from './typed-tool.ts';

/** What the catalog is made of. */
export interface TypedToolCatalogOptions {
  readonly index: ServerIndex;
  /** A server's tools with their schemas; see `ManageClient.details`. */
  readonly details: (serverName: string) => Promise<ServiceDetails>;
  /** Runs every typed tool by its target. */
  readonly executor: ToolExecutor;
  readonly log: Log;
  /** Where the typed tools are registered for everybody; absent, the catalog only holds them. */
  readonly registry?: ToolRegistry | undefined;
}

/** The tools of all connected servers as tools of their own, kept up with the index. */
export interface TypedToolCatalog extends Disposable {
  /** In the order in which servers came, then in each server's own order. */
  list(): readonly Tool[];
  get(typedName: string): Tool | undefined;
}

interface Made {
  readonly print: string;
  readonly tool: Tool;
}

interface HeldServer {
  readonly serverId: string;
  readonly fingerprint: string | null;
  /** By the server's own name of the tool, in the server's order. */
  readonly tools: ReadonlyMap<string, Made>;
}

/**
 * Starts a catalog on an index. A server whose fingerprint or id moved is asked for its tools; what cannot be had leaves
 * what is there. A tool that did not change keeps its registration object. The first owner of a name keeps it: others are
 * skipped, with one log line per name, until it is free.
 */
export const createTypedToolCatalog = (options: TypedToolCatalogOptions): TypedToolCatalog => {
  const { index, details, executor, log, registry } = options;
  const servers = new Map<string, HeldServer>();
  const skipped = new Set<string>();
  const registered = new Map<string, Tool>();
  let byName: ReadonlyMap<string, Tool> = new Map();

  const skip = (name: string, server: string, reason: string): void => {
    const key = `${server}\n${name}`;
    if (skipped.has(key)) return;
    skipped.add(key);
    log.warn({ tool: name, server }, `a typed tool was skipped: ${reason}`);
  };

  const make = (server: string, tool: DownstreamTool, before: Made | undefined): Made | undefined => {
    const print = fingerprint(tool);
    if (before?.print === print) return before;
    try {
      return { print, tool: toTypedTool(server, tool, executor) };
    } catch (error) {
      skip(tool.name, server, messageOf(error));
      return undefined;
    }
  };

  const hold = (summary: ServerSummary, listed: readonly DownstreamTool[]): void => {
    const { serverName, serverId } = summary;
    const before = servers.get(serverName)?.tools;
    const tools = new Map<string, Made>();
    for (const tool of listed) {
      const made = make(serverName, tool, before?.get(tool.name));
      if (made && !tools.has(tool.name)) tools.set(tool.name, made);
    }
    servers.set(serverName, { serverId, fingerprint: summary.fingerprint, tools });
  };

  const hasMoved = (summary: ServerSummary): boolean => {
    const held = servers.get(summary.serverName);
    // Without a fingerprint nothing can be said about change.
    return (
      summary.fingerprint === null || held?.fingerprint !== summary.fingerprint || held.serverId !== summary.serverId
    );
  };

  const toolsOf = async (server: string): Promise<readonly DownstreamTool[] | undefined> => {
    try {
      return (await details(server)).tools;
    } catch (error) {
      const facts = { server, reason: messageOf(error) };
      log.warn(facts, 'the tools of a server could not be read; those known before stay');
      return undefined;
    }
  };

  const nameAll = (): ReadonlyMap<string, Tool> => {
    const named = new Map<string, Tool>();
    for (const [server, { tools }] of servers)
      for (const { tool } of tools.values()) {
        const { name, target } = tool.registration;
        const owner = named.get(name)?.registration.target;
        if (owner)
          skip(name, server, `"${target?.tool}" would share its name with "${owner.tool}" of "${owner.server}"`);
        else named.set(name, tool);
      }
    return named;
  };

  const register = (into: ToolRegistry): void => {
    const remove = [...registered].filter(([name, tool]) => byName.get(name) !== tool).map(([name]) => name);
    for (const name of remove) registered.delete(name);
    const add = [...byName.values()].filter((tool) => !registered.has(tool.registration.name));
    const refused = new Set(into.replace({ remove, add }));
    for (const tool of add) {
      const { name, target } = tool.registration;
      if (refused.has(tool)) skip(name, target?.server ?? '', 'another tool has that name');
      else registered.set(name, tool);
    }
  };

  const unlisten = index.onMessage(async (message: McpServersIndexed) => {
    for (const server of message.removedServers) servers.delete(server);
    const moved = message.servers.filter(hasMoved);
    const read = await Promise.all(moved.map(({ serverName }) => toolsOf(serverName)));
    // In the order of the message, not of the answers, so that the same servers always give the same names.
    for (const [at, summary] of moved.entries()) {
      const tools = read[at];
      if (tools) hold(summary, tools);
    }
    byName = nameAll();
    if (registry) register(registry);
  });

  return {
    list: () => [...byName.values()],
    get: (typedName) => byName.get(typedName),
    [Symbol.dispose]: () => {
      unlisten();
      registry?.replace({ remove: [...registered.keys()], add: [] });
      registered.clear();
    },
  };
};
