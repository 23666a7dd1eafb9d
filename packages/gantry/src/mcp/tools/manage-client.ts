import type { Bus } from '../../bus/bus.ts';
import { messageHeaders } from '../../bus/headers.ts';
import { createRequester } from '../../bus/requester.ts';
import { topics } from '../../bus/topics.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type {
  FilledPrompt,
  GetPrompt,
  GetServiceDetails,
  ListResources,
  ReadResource,
  ReadResourceResult,
  RegisterServer,
  ResourceList,
  ServerRegistered,
  ServerUnregistered,
  ServiceDetails,
  UnregisterServer,
} from '../wire/manage-messages.ts';
import { manageMessageTypes as types } from '../wire/manage-messages.ts';

/**
 * Asks the bridge about its servers, and to change them.
 *
 * Every method throws a GantryError: `execution_failed` with the bridge's message, which is written for whoever asked; `timeout` after 30 s,
 * naming what gave no answer.
 */
export interface ManageClient extends AsyncDisposable {
  /** A server's identity, tools and prompts, with the server's own schemas. */
  details(serverName: string, toolName?: string): Promise<ServiceDetails>;
  register(server: RegisterServer): Promise<ServerRegistered>;
  unregister(serverName: string): Promise<ServerUnregistered>;
  prompt(request: GetPrompt): Promise<FilledPrompt>;
  resources(serverName: string): Promise<ResourceList>;
  readResource(request: ReadResource): Promise<ReadResourceResult>;
}

const timeoutMs = 30_000;

/** Makes a client of `mcp.manage`. */
export const createManageClient = (options: {
  readonly bus: Bus;
  readonly agent: string;
  readonly log: Log;
  readonly clock: Clock;
}): ManageClient => {
  const { bus, agent, log, clock } = options;
  const requester = createRequester({
    bus,
    replyTopic: topics.mcpManageResponseOf(agent),
    subscriptionName: `${agent}.mcp-manage-response`,
    source: agent,
    log,
    clock,
  });

  const ask = async <Answer>(
    messageType: string,
    answerType: string,
    body: object,
    subject: string,
  ): Promise<Answer> => {
    const reply = await requester.request(topics.mcpManage, {
      messageType,
      body,
      destination: agent,
      headers: { [messageHeaders.contentTrust]: 'tool-request' },
      timeoutMs,
      onTimeout: () =>
        new GantryError('timeout', `${subject}: the MCP bridge gave no answer within ${timeoutMs} ms.`, {
          details: { timeoutMs },
        }),
    });
    if (reply.messageType === answerType) return reply.body as Answer;
    const reason = isObject(reply.body) ? reply.body['error'] : undefined;
    const message = typeof reason === 'string' ? reason : `the bridge gave an answer of type ${reply.messageType}`;
    throw new GantryError('execution_failed', `${subject}: ${message}`);
  };

  return {
    details: (serverName, toolName) => {
      const body: GetServiceDetails = { serverName, toolName };
      return ask(types.getDetails, types.details, body, `Details of server "${serverName}"`);
    },
    register: (body) => ask(types.registerServer, types.serverRegistered, body, `Registering server "${body.name}"`),
    unregister: (serverName) => {
      const body: UnregisterServer = { serverName };
      return ask(types.unregisterServer, types.serverUnregistered, body, `Unregistering server "${serverName}"`);
    },
    prompt: (body) =>
      ask(types.getPrompt, types.prompt, body, `Prompt "${body.promptName}" of server "${body.serverName}"`),
    resources: (serverName) => {
      const body: ListResources = { serverName };
      return ask(types.listResources, types.resources, body, `Resources of server "${serverName}"`);
    },
    readResource: (body) => ask(types.readResource, types.resource, body, `Resource of server "${body.serverName}"`),
    [Symbol.asyncDispose]: () => requester[Symbol.asyncDispose](),
  };
};
