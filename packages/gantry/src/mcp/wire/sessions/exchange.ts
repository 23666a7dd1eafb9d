/**
 * One request to a server, for whoever speaks another generation or another transport: its answer, and all that the server says and asks
 * before it answers.
 */
import { orAborted } from '../../../kernel/abort.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';

/** A request of a server to its client. */
export interface ServerRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: Json | undefined;
}

/** What a server says without waiting for an answer. */
export interface Notice {
  readonly method: string;
  readonly params: JsonObject;
}

/** What a server waits for before it goes on, or its result. */
export type Step = { readonly asked: readonly ServerRequest[] } | { readonly result: JsonObject };

/** A request on its way. */
export interface Exchange {
  /**
   * What the server says next.
   * @throws {GantryError} `execution_failed` with `details.rpc` for an error of the server's own; `server_unreachable`; the signal's reason.
   */
  next(signal: AbortSignal): Promise<Step>;
  /** Answers what the server asked: `{ result }` or `{ error }`. */
  answer(id: ServerRequest['id'], said: JsonObject): Promise<void>;
  /** Hears the notices of this request; the last one to ask for them gets them. */
  hear(listener: (notice: Notice) => void): void;
  /** Gives the request up, as far as it has not ended. */
  abandon(): void;
  /** Takes a message that came for this request on another stream. */
  take(message: unknown): void;
}

/** How a request reaches its server. */
export interface ExchangeWay {
  readonly id: string | number;
  /**
   * Sends the request, and gives `take` what the server says about it as far as that comes back on this way. Resolves when nothing more can
   * come this way; the request fails with what it throws.
   */
  send(take: (message: unknown) => void, signal: AbortSignal): Promise<void>;
  /** Sends a message that needs no answer. */
  tell(message: JsonObject): Promise<void>;
  /** Tells the server that the request is given up, where ending its stream does not say so. */
  readonly tellsCancelled: boolean;
  /** Makes what was thrown an error for the client. */
  toError(error: unknown): GantryError;
  readonly mask: (text: string) => string;
  onTrouble(reason: string): void;
  /** Called once when the request has ended, however. */
  onEnd?(): void;
}

// More at once is no conversation any more.
const mostQuestions = 50;

type Settled = { readonly result: JsonObject } | { readonly error: unknown };

/** Sends a request. */
export const startExchange = (way: ExchangeWay): Exchange => {
  const { id } = way;
  const ending = new AbortController();
  const questions: ServerRequest[] = [];
  /** Asked and not answered, taken or not. */
  const open = new Set<ServerRequest['id']>();
  let settled: Settled | undefined;
  let listener: (notice: Notice) => void = () => {};
  let news = Promise.withResolvers<void>();
  const announce = (): void => {
    news.resolve();
    news = Promise.withResolvers();
  };
  const settle = (end: Settled): void => {
    if (settled) return;
    settled = end;
    way.onEnd?.();
    announce();
  };
  const tell = (message: JsonObject): void =>
    void way.tell(message).catch((error: unknown) => way.onTrouble(messageOf(error)));

  const take = (message: unknown): void => {
    if (Array.isArray(message)) {
      for (const one of message) take(one);
      return;
    }
    if (!isObject(message) || settled) return;
    const { method, id: about } = message;
    const params = isObject(message['params']) ? (message['params'] as JsonObject) : {};
    if (typeof method !== 'string') {
      if (about === id) settle(toSettled(message, way.mask));
      return;
    }
    if (typeof about !== 'string' && typeof about !== 'number') {
      const taken =
        method === 'notifications/cancelled' ? questions.findIndex((one) => one.id === params['requestId']) : -1;
      if (taken >= 0) questions.splice(taken, 1);
      if (method === 'notifications/cancelled') open.delete(params['requestId'] as ServerRequest['id']);
      else listener({ method, params });
      return;
    }
    if (method === 'ping') return tell({ jsonrpc: '2.0', id: about, result: {} });
    if (open.size >= mostQuestions)
      return tell({ jsonrpc: '2.0', id: about, error: { code: -32_000, message: 'Too many questions are open.' } });
    open.add(about);
    questions.push({ id: about, method, params: message['params'] as Json | undefined });
    announce();
  };

  way
    .send(take, ending.signal)
    .catch((error: unknown) => settle({ error: GantryError.is(error) ? error : way.toError(error) }));

  return {
    next: async (signal) => {
      for (;;) {
        if (questions.length > 0) return { asked: questions.splice(0) };
        if (settled) {
          if ('error' in settled) throw settled.error;
          return settled;
        }
        await orAborted(news.promise, signal);
      }
    },
    answer: (about, said) => {
      open.delete(about);
      return way.tell({ jsonrpc: '2.0', id: about, ...said });
    },
    hear: (heard) => {
      listener = heard;
    },
    take,
    abandon: () => {
      if (settled) return;
      settle({ error: new GantryError('cancelled', 'The request was given up.') });
      if (way.tellsCancelled) tell({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } });
      ending.abort();
    },
  };
};

const toSettled = (message: Readonly<Record<string, unknown>>, mask: (text: string) => string): Settled => {
  const { result, error } = message;
  if (isObject(result)) return { result: result as JsonObject };
  const said = isObject(error) ? error : {};
  const rpc = {
    code: typeof said['code'] === 'number' ? said['code'] : -32_603,
    message:
      typeof said['message'] === 'string'
        ? mask(said['message'])
        : 'The server answered with neither a result nor an error that can be read.',
    ...('data' in said && { data: said['data'] }),
  };
  return { error: new GantryError('execution_failed', rpc.message, { details: { rpc } }) };
};
