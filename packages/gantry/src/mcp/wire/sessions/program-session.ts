import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { Json, JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { OwnProgram, PassTarget, ProgramListener } from '../pass-port.ts';
import { askingMethods } from './asking-methods.ts';
import type { ClientSays } from './client-says.ts';
import { answerCodeOf } from './answered-result.ts';
import type { Exchange, Notice } from './exchange.ts';
import { startExchange } from './exchange.ts';
import type { OlderSession } from './older-session.ts';
import { initializeParams, lastOf, noticeIn } from './older-session.ts';

type Message = Readonly<Record<string, unknown>>;

/** A program that runs for one client. */
export interface ProgramSession extends OlderSession {
  /** False when the program has ended. */
  readonly isRunning: boolean;
  /**
   * Has messages of the program's log sent from this level on. A wish: nothing waits for it, and a program that refuses it, or does not answer,
   * serves its client all the same.
   */
  wishLogLevel(level: string): void;
}

/** A request that is not answered. */
interface OpenRequest {
  readonly id: string;
  readonly method: string;
  /** The task whose end it waits for. */
  readonly taskId: string | undefined;
  /** By which the program says that progress belongs to it. */
  readonly progressToken: unknown;
  /** Whether what the program asks belongs to another one. */
  readonly isAside: boolean;
  readonly exchange: Exchange;
  fail(error: GantryError): void;
}

/**
 * Runs a program of 2025 for one client: it is told what this client can be asked for. It takes any number of requests at a time, and does not
 * say in which of them it asks: the newest call is taken for it, and the next one when that is given up before the client has answered. Where
 * calls are of several devices, one at a time is for those who make them.
 * @throws {GantryError} `server_unreachable`; `execution_failed` when the program refuses the handshake.
 */
export const openProgramSession = async (
  options: {
    readonly target: Pick<PassTarget, 'name' | 'mask'>;
    readonly start: NonNullable<PassTarget['startProgram']>;
    readonly says: ClientSays;
    readonly log: Log;
  },
  signal: AbortSignal,
): Promise<ProgramSession> => {
  const { target, start, says, log } = options;
  const open = new Map<string, OpenRequest>();
  /** Questions that are not answered, by their ids, and the request in which each is asked. */
  const asked = new Map<unknown, { readonly message: Message; readonly holder: string }>();
  const listeners = new Set<(notice: Notice) => void>();
  const silent = Promise.withResolvers<void>();
  const wishes = new AbortController();
  let count = 0;
  /** What is asked outside of requests, and not answered. */
  const aside = new Map<unknown, AbortController>();
  let answerAside: Parameters<NonNullable<OlderSession['answerAside']>>[0] | undefined;
  let isRunning = true;
  const onTrouble = (reason: string): void =>
    log.debug({ server: target.name, reason }, 'a message could not be passed on');

  const take = (message: unknown): void => {
    if (!isObject(message)) return;
    const notice = noticeIn(message);
    const { id, method } = message;
    if (notice?.method === 'notifications/progress') byToken(notice.params['progressToken'])?.exchange.take(message);
    else if (!notice && method === undefined) open.get(String(id))?.exchange.take(message);
    else if (!notice) ask(message, method === 'ping' ? undefined : (ofTask(message) ?? newest()));
    else {
      const cancelled = notice.method === 'notifications/cancelled' ? notice.params['requestId'] : undefined;
      aside.get(cancelled)?.abort();
      aside.delete(cancelled);
      const holder = asked.get(cancelled);
      const about = holder ? open.get(holder.holder) : newest();
      about?.exchange.take(message);
      if (holder) asked.delete(cancelled);
      for (const listener of listeners) listener(notice);
    }
  };
  const newest = (): OpenRequest | undefined => newestCall() ?? [...open.values()].findLast(({ isAside }) => !isAside);
  /** Of a task alone a program says what it asks about (MCP 2025-11-25, "Associating Task-Related Messages"). */
  const ofTask = (message: Message): OpenRequest | undefined => {
    const taskId = relatedTaskIn(message);
    return taskId === undefined ? undefined : [...open.values()].findLast((one) => one.taskId === taskId);
  };
  const newestCall = (): OpenRequest | undefined => [...open.values()].findLast((one) => askingMethods.has(one.method));
  const ask = (message: Message, request: OpenRequest | undefined): void => {
    if (!request) return askAside(message);
    asked.set(message['id'], { message, holder: request.id });
    request.exchange.take(message);
  };
  /** What was asked in a request that was given up may be about another call that runs. */
  const askElsewhere = (givenUp: string): void => {
    for (const [id, { message, holder }] of asked) {
      if (holder !== givenUp) continue;
      asked.delete(id);
      const other = newestCall();
      if (other) ask(message, other);
      else refuse(message);
    }
  };
  const byToken = (token: unknown): OpenRequest | undefined =>
    token === undefined ? undefined : [...open.values()].findLast(({ progressToken }) => progressToken === token);
  const tell = (message: JsonObject): void =>
    void program.send({ jsonrpc: '2.0', ...message }).catch((error: unknown) => onTrouble(messageOf(error)));
  const refuse = ({ id }: Message, reason = 'No request is open that this could belong to.'): void => {
    if (typeof id === 'string' || typeof id === 'number') tell({ id, error: { code: -32_600, message: reason } });
  };
  /** A question that belongs to no request. */
  const askAside = ({ id, method, params }: Message): void => {
    if (typeof id !== 'string' && typeof id !== 'number') return;
    if (method === 'ping') return tell({ id, result: {} });
    if (!answerAside) return refuse({ id });
    if (aside.size >= mostAside || aside.has(id)) return refuse({ id }, tooManyAside);
    const takenBack = new AbortController();
    aside.set(id, takenBack);
    const asked = { id, method: String(method), params: params as Json | undefined };
    const answer = (said: JsonObject): void => {
      if (aside.get(id) !== takenBack) return;
      aside.delete(id);
      tell({ id, ...said });
    };
    answerAside(asked, takenBack.signal).then(
      (result) => answer({ result }),
      (error: unknown) => answer({ error: { code: answerCodeOf(error), message: messageOf(error) } }),
    );
  };
  const hears: ProgramListener = {
    message: take,
    ended: () => {
      isRunning = false;
      silent.resolve();
      for (const { fail } of open.values()) fail(ended(target.name));
    },
  };
  const program: OwnProgram = await start(hears, signal);

  const request = (
    method: string,
    params: JsonObject,
    { wantsProgress = false, isAside = false, progressToken }: Parameters<OlderSession['request']>[2] = {},
  ): Exchange => {
    count += 1;
    const id = `g${count}`;
    const meta = isObject(params['_meta']) ? params['_meta'] : {};
    const sent = wantsProgress ? { ...params, _meta: { ...meta, progressToken: id } } : params;
    const over = Promise.withResolvers<never>();
    const exchange = startExchange({
      id,
      send: async (_take, ending) => {
        // The request is known before its answer can come.
        await Promise.resolve();
        await program.send({ jsonrpc: '2.0', id, method, params: sent });
        ending.addEventListener('abort', () => open.delete(id), { once: true });
        await over.promise;
      },
      tell: async (message) => {
        if (message['method'] === undefined) {
          // It is asked in another request by now.
          if (asked.get(message['id'])?.holder !== id) return;
          asked.delete(message['id']);
        }
        await program.send(message);
      },
      tellsCancelled: method !== 'initialize',
      toError: (error) =>
        new GantryError('server_unreachable', `Server "${target.name}": ${messageOf(error)}`, { cause: error }),
      mask: target.mask,
      onTrouble,
      onEnd: () => open.delete(id),
    });
    const taskId = method === 'tasks/result' && typeof params['taskId'] === 'string' ? params['taskId'] : undefined;
    const token = wantsProgress ? id : (progressToken ?? meta['progressToken']);
    open.set(id, { id, method, taskId, isAside, progressToken: token, exchange, fail: over.reject });
    return {
      ...exchange,
      abandon: () => {
        if (!open.has(id)) return;
        exchange.abandon();
        askElsewhere(id);
      },
    };
  };

  let capabilities: JsonObject;
  let logLevel: string | undefined;
  let wish: Exchange | undefined;
  const wishLogLevel = (level: string): void => {
    if (level === logLevel || !capabilities['logging']) return;
    logLevel = level;
    // One that was never answered is not waited for twice.
    wish?.abandon();
    // Messages are read in their order, so it holds for what is asked next.
    wish = request('logging/setLevel', { level });
    lastOf(wish, wishes.signal).catch((error: unknown) => onTrouble(messageOf(error)));
  };
  try {
    const result = await lastOf(request('initialize', initializeParams(says)), signal);
    capabilities = isObject(result['capabilities']) ? result['capabilities'] : {};
    await program.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    if (says.logLevel !== undefined) wishLogLevel(says.logLevel);
  } catch (error) {
    await program[Symbol.asyncDispose]();
    throw error;
  }
  return {
    capabilities,
    get isRunning() {
      return isRunning;
    },
    request,
    wishLogLevel,
    answerAside: (answer) => {
      answerAside = answer;
    },
    notify: (method, params) => tell({ method, params }),
    listen: async (listener, ending) => {
      listeners.add(listener);
      const stopped = Promise.withResolvers<void>();
      ending.addEventListener('abort', () => stopped.resolve(), { once: true });
      await Promise.race([silent.promise, stopped.promise]);
      listeners.delete(listener);
    },
    [Symbol.asyncDispose]: async () => {
      wishes.abort();
      for (const takenBack of aside.values()) takenBack.abort();
      aside.clear();
      for (const { exchange } of open.values()) exchange.abandon();
      await program[Symbol.asyncDispose]();
    },
  };
};

// As many as within a request.
const mostAside = 50;
const tooManyAside = 'Too many questions are open.';

const relatedTaskIn = ({ params }: Message): string | undefined => {
  const meta = isObject(params) ? params['_meta'] : undefined;
  const related = isObject(meta) ? meta['io.modelcontextprotocol/related-task'] : undefined;
  return isObject(related) && typeof related['taskId'] === 'string' ? related['taskId'] : undefined;
};

const ended = (name: string): GantryError =>
  new GantryError(
    'server_unreachable',
    `The program of server "${name}" ended before it answered; whether the request was carried out is unknown.`,
    { details: { name }, retry: 'never' },
  );
