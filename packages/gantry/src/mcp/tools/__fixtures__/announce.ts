import type { Bus } from '../../../bus/bus.ts';
import { createEnvelope } from '../../../bus/envelope.ts';
import { topics } from '../../../bus/topics.ts';
import type { McpServersIndexed, ServerSummary } from '../../wire/index-message.ts';
import { serversIndexedType } from '../../wire/index-message.ts';
import type { ServerIndex } from '../server-index.ts';

/** A server as the bridge announces it. */
export const summary = (serverName: string, change: Partial<ServerSummary> = {}): ServerSummary => ({
  serverName,
  serverId: `id-of-${serverName}`,
  summary: '',
  toolCount: 0,
  toolNames: [],
  promptCount: 0,
  promptNames: [],
  resourceCount: 0,
  resourceNames: [],
  fingerprint: 'f1',
  toolFingerprints: {},
  identityHash: '',
  handback: false,
  tasks: false,
  ...change,
});

/** Publishes an index message of agent `main` and waits until the listeners that are there now have ended. */
export const announce = async (bus: Bus, index: ServerIndex, message: Partial<McpServersIndexed>): Promise<void> => {
  const applied = Promise.withResolvers<void>();
  const body: McpServersIndexed = { servers: [], removedServers: [], ...message };
  // Listeners run in the order in which they came, so this one is the last.
  const unlisten = index.onMessage((seen) => {
    if (seen === body) applied.resolve();
  });
  await bus.publish(topics.mcpMetaOf('main'), createEnvelope({ messageType: serversIndexedType, source: 'b', body }));
  await applied.promise;
  unlisten();
};
