import type { Bus, MessageHandler } from '../../bus/bus.ts';
import type { Envelope } from '../../bus/envelope.ts';
import { topics } from '../../bus/topics.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { McpServersIndexed, ServerSummary } from '../wire/index-message.ts';
import { serversIndexedType } from '../wire/index-message.ts';

/** Told of every index message, after the index holds it. The next message waits until all listeners have ended. */
export type IndexListener = (message: McpServersIndexed) => void | Promise<void>;

/** The connected servers as the bridge announced them. */
export interface ServerIndex extends AsyncDisposable {
  /** By name, in code-unit order. */
  list(): readonly ServerSummary[];
  get(name: string): ServerSummary | undefined;
  /** Adds a listener; returns the way to stop it. One that fails is logged and does not disturb the others. */
  onMessage(listener: IndexListener): () => void;
}

/** Starts an index that follows the announcements of the agent's bridge, one after another. */
export const createServerIndex = async (options: {
  readonly bus: Bus;
  readonly agent: string;
  readonly log: Log;
}): Promise<ServerIndex> => {
  const { bus, agent, log } = options;
  const servers = new Map<string, ServerSummary>();
  const listeners = new Set<IndexListener>();

  const apply: MessageHandler = async (envelope) => {
    const message = indexOf(envelope);
    if (!message) return 'dead-letter';
    for (const name of message.removedServers) servers.delete(name);
    for (const server of message.servers) servers.set(server.serverName, server);
    for (const listener of listeners) {
      try {
        await listener(message);
      } catch (error) {
        log.error({ err: error }, 'the index of MCP servers could not be applied everywhere');
      }
    }
    return 'ack';
  };

  const subscription = await bus.subscribe(topics.mcpMetaOf(agent), `${agent}.mcp-server-index`, apply);
  return {
    list: () => [...servers.values()].sort((a, b) => (a.serverName < b.serverName ? -1 : 1)),
    get: (name) => servers.get(name),
    onMessage: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
};

const indexOf = ({ messageType, body }: Envelope): McpServersIndexed | undefined => {
  const fits =
    messageType === serversIndexedType &&
    isObject(body) &&
    Array.isArray(body['servers']) &&
    Array.isArray(body['removedServers']);
  return fits ? (body as unknown as McpServersIndexed) : undefined;
};
