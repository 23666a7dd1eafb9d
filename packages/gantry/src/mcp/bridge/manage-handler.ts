import type { Bus, MessageHandler, Subscription } from '../../bus/bus.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { messageHeaders } from '../../bus/headers.ts';
import { topics } from '../../bus/topics.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import { flattenText } from '../../text/flatten.ts';
import type { ManageError, ServiceDetails } from '../wire/manage-messages.ts';
import { manageMessageTypes } from '../wire/manage-messages.ts';
import { toolNamed } from './call/find-tool.ts';
import type { ServerDirectory } from './call/server-directory.ts';
import { notReachable, unknownServer } from './call/server-directory.ts';

/** Answers questions about servers on `mcp.manage`, from what was read last; no server is asked. */
export const serveManage = (options: {
  bus: Bus;
  agent: string;
  log: Log;
  servers: ServerDirectory;
}): Promise<Subscription> => {
  const { bus, agent, log, servers } = options;

  const handle: MessageHandler = async (envelope) => {
    if (envelope.destination !== undefined && envelope.destination !== agent) return 'ack';
    const { replyTo, correlationId } = envelope;
    if (replyTo === undefined) return 'dead-letter';
    if (envelope.messageType !== manageMessageTypes.getDetails) {
      log.warn({ messageType: envelope.messageType }, 'a management request of an unknown kind was ignored');
      return 'ack';
    }
    const body = detailsOf(servers, envelope.body);
    await bus.publish(
      replyTo,
      createEnvelope({
        messageType: 'error' in body ? manageMessageTypes.error : manageMessageTypes.details,
        source: agent,
        body,
        correlationId,
        headers: { [messageHeaders.contentTrust]: 'tool-output' },
      }),
    );
    return 'ack';
  };

  return bus.subscribe(topics.mcpManage, `${agent}.mcp-manage`, handle, { concurrency: Infinity });
};

const detailsOf = (servers: ServerDirectory, body: unknown): ServiceDetails | ManageError => {
  const name = isObject(body) ? body['serverName'] : undefined;
  if (typeof name !== 'string' || name === '') return { error: 'Give "serverName", the name of a registered server.' };
  const server = servers.get(name.toLowerCase());
  if (!server) return { error: unknownServer(servers, name) };
  const { snapshot } = server;
  if (!snapshot) return { error: notReachable(server, server.status().lastError ?? 'It is being connected.') };
  const { identity, tools, prompts } = snapshot.surface;
  const toolName = isObject(body) ? body['toolName'] : undefined;
  if (typeof toolName !== 'string' || toolName === '') return { server: identity, tools, prompts };
  const tool = toolNamed(tools, toolName);
  if (tool) return { server: identity, tools: [tool], prompts: [] };
  const names = tools.map((known) => flattenText(known.name, { maxChars: 100 })).toSorted();
  return {
    error: `Server "${server.name}" has no tool "${flattenText(toolName, { maxChars: 100 })}". Its tools: ${names.join(', ')}.`,
  };
};
