import type {
  JSONRPCMessage,
  MessageExtraInfo,
  RequestId,
  StandardSchemaV1,
  Transport,
  TransportSendOptions,
} from '@modelcontextprotocol/client';
import { GantryError } from '../../../kernel/errors.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { AnswerRequest } from './answer-requests.ts';
import { createRequestAnswers } from './answer-requests.ts';
import type { Channel } from './channel.ts';
import { flatMessage } from './flat-message.ts';
import { toLostAnswer } from './lost-answer.ts';

const rawKey = 'gantry.dev/raw';

/**
 * Takes the result of a request as the server sent it. The protocol layer of the SDK refuses whole answers for one odd member and
 * copies what it checks; the bridge reads them leniently itself.
 */
export const rawResult: StandardSchemaV1<unknown, unknown> = {
  '~standard': {
    version: 1,
    vendor: 'gantry',
    validate: (value) => ({ value: isObject(value) && rawKey in value ? value[rawKey] : value }),
  },
};

const rawMethods: ReadonlySet<string> = new Set([
  'tools/call',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/get',
  'completion/complete',
  'tasks/get',
  'tasks/result',
  'tasks/update',
  'tasks/cancel',
]);

// What the bridge asks for itself, and nobody else causes.
const ownMethods: ReadonlySet<string> = new Set([
  'initialize',
  'server/discover',
  'ping',
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
]);

// Empty, but right for every method above in every revision.
const standIn = {
  resultType: 'complete',
  content: [],
  tools: [],
  prompts: [],
  resources: [],
  resourceTemplates: [],
  contents: [],
  messages: [],
  completion: { values: [] },
  ttlMs: 0,
  cacheScope: 'private',
} as const;

/**
 * A transport that answers requests of the server by `answers`, and keeps three promises its inner one does not: results of the methods read leniently travel past the SDK's checks (see
 * {@link rawResult}); a request whose stream ends without an answer fails at once; and a cancelled request is closed as well as told
 * to the server. Answers that nobody waits for any more are dropped.
 */
export const watchTransport = (
  inner: Transport,
  server: string,
  options: {
    readonly log: Log;
    readonly answers?: Readonly<Record<string, AnswerRequest | undefined>> | undefined;
    /** Whether nobody has looked yet how deep its messages nest. Default false. */
    readonly checksDepth?: boolean | undefined;
    /** Requests that are sent past this transport, and get what belongs to them. */
    readonly channel?: Pick<Channel, 'take' | 'usedByOthers' | 'end'> | undefined;
  },
): Transport => {
  const { channel } = options;
  const requests = createRequestAnswers(inner, { log: options.log, answers: options.answers ?? {} });
  const waiting = new Map<RequestId, { readonly method: string; readonly abort: AbortController | undefined }>();

  const deliver = (given: JSONRPCMessage, extra?: MessageExtraInfo): void => {
    const message = options.checksDepth === true ? flatMessage(given, server) : given;
    if (!message) return;
    if (requests.take(message) || channel?.take(message)) return;
    if ('method' in message) {
      outer.onmessage?.(withProperParams(message), extra);
      return;
    }
    const request = message.id === undefined ? undefined : waiting.get(message.id);
    if (!request || message.id === undefined) return;
    waiting.delete(message.id);
    if (!('result' in message)) outer.onmessage?.(message, extra);
    else if (rawMethods.has(request.method))
      outer.onmessage?.({ ...message, result: { ...standIn, [rawKey]: message.result } }, extra);
    else outer.onmessage?.(isObject(message.result) ? message : { ...message, result: {} }, extra);
  };

  const lose = (id: RequestId): void => {
    if (!waiting.delete(id)) return;
    const message = `Server "${server}" ended the connection before it answered; whether the request was carried out is unknown.`;
    outer.onmessage?.(toLostAnswer(id, new GantryError('server_unreachable', message, { details: { name: server } })));
  };

  const send = async (message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> => {
    if (!('method' in message)) return await inner.send(message, options);
    if ('id' in message) {
      const { id, method } = message;
      // A stream of notices has an end of its own, which the SDK handles.
      if (method === 'subscriptions/listen') return await inner.send(message, options);
      const abort = options?.requestSignal ? undefined : new AbortController();
      waiting.set(id, { method, abort });
      if (!ownMethods.has(method)) channel?.usedByOthers();
      options?.requestSignal?.addEventListener('abort', () => waiting.delete(id), { once: true });
      try {
        await inner.send(message, {
          ...options,
          requestSignal: options?.requestSignal ?? abort?.signal,
          onRequestStreamEnd: () => lose(id),
        });
      } catch (error) {
        waiting.delete(id);
        throw error;
      }
      return;
    }
    const cancelled = message.method === 'notifications/cancelled' ? cancelledId(message.params) : undefined;
    const request = cancelled === undefined ? undefined : waiting.get(cancelled);
    if (cancelled !== undefined) waiting.delete(cancelled);
    try {
      await inner.send(message, options);
    } finally {
      request?.abort?.abort();
    }
  };

  const outer: Transport = {
    start: () => inner.start(),
    close: () => inner.close(),
    send,
    get sessionId() {
      return inner.sessionId;
    },
    setProtocolVersion: (version) => inner.setProtocolVersion?.(version),
    setSupportedProtocolVersions: (versions) => inner.setSupportedProtocolVersions?.(versions),
    ...(inner.hasPerRequestStream ? { hasPerRequestStream: true } : {}),
    // The SDK tells transports of child processes by these two members.
    ...('pid' in inner && 'stderr' in inner ? { pid: inner.pid, stderr: inner.stderr } : {}),
  };
  return listenTo(inner, outer, deliver, () => {
    waiting.clear();
    requests.end();
    channel?.end();
  });
};

const listenTo = (
  inner: Transport,
  outer: Transport,
  deliver: NonNullable<Transport['onmessage']>,
  onEnd: () => void,
): Transport => {
  const listeners: Pick<Transport, 'onmessage' | 'onerror' | 'onclose'> = {
    onmessage: deliver,
    onerror: (error) => outer.onerror?.(error),
    onclose: () => {
      onEnd();
      outer.onclose?.();
    },
  };
  Object.assign(inner, listeners);
  return outer;
};

const cancelledId = (params: unknown): RequestId | undefined => {
  const id = isObject(params) ? params['requestId'] : undefined;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
};

/** Some servers send `"params": []` with a notice; the SDK would drop it. */
const withProperParams = (message: JSONRPCMessage): JSONRPCMessage => {
  if (!('params' in message) || message.params === undefined || isObject(message.params)) return message;
  const { params: _params, ...rest } = message;
  return rest;
};
