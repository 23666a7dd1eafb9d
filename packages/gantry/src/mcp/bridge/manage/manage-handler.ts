import type { Bus, MessageHandler, Subscription } from '../../../bus/bus.ts';
import { createEnvelope } from '../../../bus/envelope.ts';
import { messageHeaders } from '../../../bus/headers.ts';
import { topics } from '../../../bus/topics.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Volume } from '../../../volume/volume.ts';
import type { ManageError, RegisterServer, ServerRegistered, ServerUnregistered } from '../../wire/manage-messages.ts';
import { manageMessageTypes as types } from '../../wire/manage-messages.ts';
import type { ServerDirectory } from '../call/server-directory.ts';
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
}

type Handler = (body: Readonly<Record<string, unknown>>) => Promise<object>;

/** Serves `mcp.manage`: each request gets one answer, of its kind or an error whose text is for whoever asked. */
export const serveManage = (options: ManageOptions): Promise<Subscription> => {
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

  const handle: MessageHandler = async (envelope) => {
    if (envelope.destination !== undefined && envelope.destination !== agent) return 'ack';
    const { replyTo, correlationId } = envelope;
    if (replyTo === undefined) return 'dead-letter';
    const handler = handlers.get(envelope.messageType);
    if (!handler) {
      log.warn({ messageType: envelope.messageType }, 'a management request of an unknown kind was ignored');
      return 'ack';
    }
    const body = await answerOf(handler.run, isObject(envelope.body) ? envelope.body : {}, log);
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

  return bus.subscribe(topics.mcpManage, `${agent}.mcp-manage`, handle, { concurrency: Infinity });
};

const answerOf = async (
  run: Handler,
  body: Readonly<Record<string, unknown>>,
  log: Log,
): Promise<object | ManageError> => {
  try {
    return await run(body);
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
