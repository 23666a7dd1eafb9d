import type { Bus } from '../../bus/bus.ts';
import { messageHeaders } from '../../bus/headers.ts';
import type { Envelope } from '../../bus/envelope.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { createRequester } from '../../bus/requester.ts';
import { topics } from '../../bus/topics.ts';
import { toolMessageTypes } from '../../tool/messages.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type {
  AnswerQuestion,
  CancelTask,
  FilledPrompt,
  GetPrompt,
  GetServiceDetails,
  ListResources,
  QuestionAnswered,
  ReadResource,
  ReadResourceResult,
  RegisterServer,
  ResourceList,
  ServerRegistered,
  ServerUnregistered,
  ServiceDetails,
  TaskCancelled,
  UnregisterServer,
} from '../wire/manage-messages.ts';
import { manageMessageTypes as types } from '../wire/manage-messages.ts';

/**
 * Asks the bridge about its servers, and to change them.
 *
 * Every method throws a GantryError: `execution_failed` with the bridge's message, which is written for whoever asked; `timeout` after 30 s
 * (an answer: after 930 s), naming what gave no answer.
 */
export interface ManageClient extends AsyncDisposable {
  /** A server's identity, tools and prompts, with the server's own schemas. */
  details(serverName: string, toolName?: string): Promise<ServiceDetails>;
  register(server: RegisterServer): Promise<ServerRegistered>;
  unregister(serverName: string): Promise<ServerUnregistered>;
  prompt(request: GetPrompt): Promise<FilledPrompt>;
  resources(serverName: string): Promise<ResourceList>;
  readResource(request: ReadResource): Promise<ReadResourceResult>;
  /** Answers a question; waits as long as the call that goes on may take, and gives that up with the signal. */
  answer(request: AnswerQuestion, signal?: AbortSignal): Promise<QuestionAnswered>;
  /** Cancels a background task of a session. */
  cancelTask(request: CancelTask): Promise<TaskCancelled>;
}

const usualTimeoutMs = 30_000;
// Longer than any call may take.
const answerTimeoutMs = 930_000;

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
    { timeoutMs = usualTimeoutMs, signal }: { timeoutMs?: number; signal?: AbortSignal | undefined } = {},
  ): Promise<Answer> => {
    const correlationId = newId();
    const asking = requester.request(topics.mcpManage, {
      messageType,
      body,
      destination: agent,
      headers: { [messageHeaders.contentTrust]: 'tool-request' },
      timeoutMs,
      signal,
      correlationId,
      onTimeout: () =>
        new GantryError('timeout', `${subject}: the MCP bridge gave no answer within ${timeoutMs} ms.`, {
          details: { timeoutMs },
        }),
    });
    let reply: Envelope;
    try {
      reply = await asking;
    } catch (error) {
      if (signal?.aborted) await giveUp(correlationId);
      throw error;
    }
    if (reply.messageType === answerType) return reply.body as Answer;
    const reason = isObject(reply.body) ? reply.body['error'] : undefined;
    const message = typeof reason === 'string' ? reason : `the bridge gave an answer of type ${reply.messageType}`;
    throw new GantryError('execution_failed', `${subject}: ${message}`);
  };

  const giveUp = async (correlationId: string): Promise<void> => {
    try {
      const { cancel: messageType } = toolMessageTypes;
      await bus.publish(topics.toolCancel, createEnvelope({ messageType, source: agent, correlationId, body: {} }));
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'the end of an answer could not be told to the MCP bridge');
    }
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
    answer: (body, signal) =>
      ask(types.answerQuestion, types.answered, body, `Question "${body.questionId.slice(0, 100)}"`, {
        timeoutMs: answerTimeoutMs,
        signal,
      }),
    cancelTask: (body) => ask(types.cancelTask, types.taskCancelled, body, `Task "${body.taskId.slice(0, 100)}"`),
    [Symbol.asyncDispose]: () => requester[Symbol.asyncDispose](),
  };
};
