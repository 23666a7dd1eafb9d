import type { Bus, MessageHandler } from '../../../bus/bus.ts';
import { createEnvelope } from '../../../bus/envelope.ts';
import { messageHeaders } from '../../../bus/headers.ts';
import { topics } from '../../../bus/topics.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Volume } from '../../../volume/volume.ts';
import type {
  ManageError,
  QuestionAnswered,
  RegisterServer,
  ServerRegistered,
  ServerUnregistered,
  TaskCancelled,
} from '../../wire/manage-messages.ts';
import { manageMessageTypes as types } from '../../wire/manage-messages.ts';
import { toReply } from '../../../tool/messages.ts';
import type { ServerDirectory } from '../call/server-directory.ts';
import type { TaskDesk } from '../tasks/task-desk.ts';
import type { QuestionDesk } from '../questions/question-desk.ts';
import { getDetails } from './get-details.ts';
import { getPrompt } from './get-prompt.ts';
import { listResources, readResource } from './resources.ts';

/** What management requests work with. */
export interface ManageOptions {
  readonly bus: Bus;
  readonly agent: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly servers: ServerDirectory;
  readonly volume: Pick<Volume, 'saveNew'>;
  /** Characters. */
  readonly resourceInlineTextLimit: number;
  readonly register: (request: RegisterServer) => Promise<ServerRegistered>;
  readonly unregister: (serverName: string) => Promise<ServerUnregistered>;
  readonly answerQuestion: QuestionDesk['answer'];
  readonly cancelTask: TaskDesk['cancel'];
}

type Handler = (body: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<object>;

/** Serves `mcp.manage`: each request gets one answer, of its kind or an error whose text is for whoever asked. */
export const serveManage = async (options: ManageOptions): Promise<AsyncDisposable> => {
  const { bus, agent, clock, log, servers, volume } = options;

  const handlers = new Map<string, { readonly answer: string; readonly run: Handler }>([
    [
      types.getDetails,
      {
        answer: types.details,
        run: (body) =>
          getDetails(
            servers,
            { serverName: textIn(body, 'serverName'), toolName: optionalTextIn(body, 'toolName') },
            clock,
          ),
      },
    ],
    [
      types.registerServer,
      {
        answer: types.serverRegistered,
        run: async (body) => {
          const [name, type, url] = [textIn(body, 'name'), textIn(body, 'type'), textIn(body, 'url')];
          if (type !== 'sse') throw new GantryError('invalid_arguments', '"type" must be "sse".');
          return await options.register({ name, type, url });
        },
      },
    ],
    [
      types.unregisterServer,
      { answer: types.serverUnregistered, run: (body) => options.unregister(textIn(body, 'serverName')) },
    ],
    [
      types.getPrompt,
      {
        answer: types.prompt,
        run: (body) => {
          const given = body['arguments'];
          if (given !== undefined && !isObject(given))
            throw new GantryError('invalid_arguments', '"arguments" must be an object of texts by name.');
          const [serverName, promptName] = [textIn(body, 'serverName'), textIn(body, 'promptName')];
          return getPrompt(servers, { serverName, promptName, arguments: given as JsonObject | undefined }, clock);
        },
      },
    ],
    [
      types.listResources,
      { answer: types.resources, run: (body) => listResources(servers, textIn(body, 'serverName'), clock) },
    ],
    [
      types.readResource,
      {
        answer: types.resource,
        run: (body) =>
          readResource(
            servers,
            { serverName: textIn(body, 'serverName'), uri: textIn(body, 'uri') },
            { volume, inlineTextLimit: options.resourceInlineTextLimit, clock },
          ),
      },
    ],
  ]);

  handlers.set(types.answerQuestion, {
    answer: types.answered,
    run: async (body, signal): Promise<QuestionAnswered> => {
      const [id, toolCallId] = [textIn(body, 'questionId'), textIn(body, 'toolCallId')];
      const { answers, decline } = body;
      const given = { answers, decline: decline === true };
      const session = optionalTextIn(body, 'sessionId');
      const { server, outcome } = await options.answerQuestion(id, given, { kind: 'agent', session }, signal);
      return { server, reply: toReply(outcome, { id: toolCallId, name: 'mcp_answer' }) };
    },
  });
  handlers.set(types.cancelTask, {
    answer: types.taskCancelled,
    run: async (body): Promise<TaskCancelled> => ({
      message: await options.cancelTask(textIn(body, 'taskId'), {
        kind: 'agent',
        session: optionalTextIn(body, 'sessionId'),
      }),
    }),
  });
  const running = new Map<string, AbortController>();

  const handle: MessageHandler = async (envelope) => {
    if (envelope.destination !== undefined && envelope.destination !== agent) return 'ack';
    const { replyTo, correlationId } = envelope;
    if (replyTo === undefined) return 'dead-letter';
    const handler = handlers.get(envelope.messageType);
    if (!handler) {
      log.warn({ messageType: envelope.messageType }, 'a management request of an unknown kind was ignored');
      return 'ack';
    }
    const ending = new AbortController();
    if (correlationId !== undefined) running.set(correlationId, ending);
    const body = await answerOf(handler.run, isObject(envelope.body) ? envelope.body : {}, ending.signal, log);
    if (correlationId !== undefined) running.delete(correlationId);
    await bus.publish(
      replyTo,
      createEnvelope({
        messageType: 'error' in body ? types.error : handler.answer,
        source: agent,
        body,
        correlationId,
        headers: { [messageHeaders.contentTrust]: 'tool-output' },
      }),
    );
    return 'ack';
  };

  // Only an answer takes long enough to be given up.
  const cancel: MessageHandler = async (envelope) => {
    running.get(envelope.correlationId ?? '')?.abort();
    return 'ack';
  };

  const requests = await bus.subscribe(topics.mcpManage, `${agent}.mcp-manage`, handle, { concurrency: Infinity });
  const cancels = await bus.subscribe(topics.toolCancel, `${agent}.mcp-manage-cancel`, cancel);
  return {
    [Symbol.asyncDispose]: async () => {
      for (const ending of running.values()) ending.abort();
      await Promise.all([requests, cancels].map((subscription) => subscription[Symbol.asyncDispose]()));
    },
  };
};

const answerOf = async (
  run: Handler,
  body: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
  log: Log,
): Promise<object | ManageError> => {
  try {
    return await run(body, signal);
  } catch (error) {
    if (!GantryError.is(error)) log.error({ err: error }, 'a management request failed');
    return { error: messageOf(error) };
  }
};

const textIn = (body: Readonly<Record<string, unknown>>, name: string): string => {
  const value = body[name];
  if (typeof value === 'string' && value !== '') return value;
  throw new GantryError('invalid_arguments', `Give "${name}", a text.`);
};

const optionalTextIn = (body: Readonly<Record<string, unknown>>, name: string): string | undefined => {
  const value = body[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
};
