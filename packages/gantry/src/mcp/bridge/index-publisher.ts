import type { Bus } from '../../bus/bus.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { messageHeaders } from '../../bus/headers.ts';
import { topics } from '../../bus/topics.ts';
import { messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { McpServersIndexed, ServerSummary } from '../wire/index-message.ts';
import { serversIndexedType } from '../wire/index-message.ts';
import { handsBack } from './call/can-hand-back.ts';
import { hasTasks } from './tasks/can-run-task.ts';
import type { Offer } from './server/managed-server.ts';
import { describeSurface } from './surface/describe-surface.ts';

/** Tells the agent side what servers there are. */
export interface IndexPublisher {
  /** A server is there, or offers something else now. `summary` is one sentence on it; default a list of its first tools. */
  announce(offer: Offer, summary?: string): void;
  /** A server is not offered any more. Only one that had been announced is withdrawn. */
  withdraw(name: string): void;
}

/** Makes the publisher of an agent's index. Messages leave in the order of the calls. */
export const createIndexPublisher = (options: { bus: Bus; agent: string; log: Log }): IndexPublisher => {
  const { bus, agent, log } = options;
  const announced = new Set<string>();

  const publish = (body: McpServersIndexed): void => {
    const envelope = createEnvelope({
      messageType: serversIndexedType,
      source: agent,
      body,
      headers: { [messageHeaders.contentTrust]: 'system' },
    });
    bus
      .publish(topics.mcpMetaOf(agent), envelope)
      .catch((error: unknown) => log.warn({ reason: messageOf(error) }, 'the index of servers was not published'));
  };

  return {
    announce: (offer, summary) => {
      announced.add(offer.name);
      publish({ servers: [toSummary(offer, summary)], removedServers: [] });
    },
    withdraw: (name) => {
      if (announced.delete(name)) publish({ servers: [], removedServers: [name] });
    },
  };
};

const toSummary = ({ name, entry, identityHash, surface, isModern }: Offer, summary?: string): ServerSummary => {
  const { identity, tools, prompts, resources, templates } = surface;
  const resourceNames = [...resources, ...templates].map(
    (resource) => resource.name ?? resource.uri ?? resource.uriTemplate ?? '',
  );
  return {
    serverName: name,
    displayName: identity.title ?? identity.implementationName,
    serverId: entry.id,
    summary: summary ?? describeSurface(surface),
    toolCount: tools.length,
    toolNames: tools.map((tool) => tool.name),
    promptCount: prompts.length,
    promptNames: prompts.map((prompt) => prompt.name),
    resourceCount: resourceNames.length,
    resourceNames,
    fingerprint: surface.fingerprint,
    toolFingerprints: surface.toolFingerprints,
    version: identity.version,
    identityHash,
    handback: isModern !== false && handsBack(entry),
    tasks: isModern !== false && hasTasks(entry),
  };
};
