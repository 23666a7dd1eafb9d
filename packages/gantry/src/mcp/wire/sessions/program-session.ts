import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { OwnProgram, PassTarget } from '../pass-port.ts';
import type { ClientSays } from './client-says.ts';
import type { Exchange, Notice } from './exchange.ts';
import { startExchange } from './exchange.ts';
import type { OlderSession } from './older-session.ts';
import { initializeParams, lastOf, noticeIn } from './older-session.ts';

/** A program that runs for one client. */
export interface ProgramSession extends OlderSession {
  /** False when the program has ended. */
  readonly isRunning: boolean;
}

/**
 * Runs a program of 2025 for one client: it is told what this client can be asked for. It takes any number of requests at a time; what it
 * asks goes to the client of the newest that is open, and all of them are of the same client.
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
  const open = new Map<string, { readonly exchange: Exchange; fail(error: GantryError): void }>();
  const listeners = new Set<(notice: Notice) => void>();
  const silent = Promise.withResolvers<void>();
  let count = 0;
  let isRunning = true;
  const onTrouble = (reason: string): void =>
    log.debug({ server: target.name, reason }, 'a message could not be passed on');

  const take = (message: unknown): void => {
    if (!isObject(message)) return;
    const notice = noticeIn(message);
    const { id } = message;
    if (notice?.method === 'notifications/progress') byToken(notice.params['progressToken'])?.exchange.take(message);
    else if (!notice && !('method' in message)) open.get(String(id))?.exchange.take(message);
    else {
      const newest = [...open.values()].at(-1);
      if (newest) newest.exchange.take(message);
      else if (!notice) refuse(message);
      if (notice) for (const listener of listeners) listener(notice);
    }
  };
  const byToken = (token: unknown) => (typeof token === 'string' ? open.get(token) : undefined);
  const refuse = ({ id, method }: Readonly<Record<string, unknown>>): void => {
    if (typeof id !== 'string' && typeof id !== 'number') return;
    const answer =
      method === 'ping'
        ? { result: {} }
        : { error: { code: -32_600, message: 'No request is open that this could belong to.' } };
    program.send({ jsonrpc: '2.0', id, ...answer }).catch((error: unknown) => onTrouble(messageOf(error)));
  };
  const program: OwnProgram = await start({
    message: take,
    ended: () => {
      isRunning = false;
      silent.resolve();
      for (const { fail } of open.values()) fail(ended(target.name));
    },
  });

  const request = (method: string, params: JsonObject, wantsProgress = false): Exchange => {
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
      tell: (message) => program.send(message),
      tellsCancelled: method !== 'initialize',
      toError: (error) =>
        new GantryError('server_unreachable', `Server "${target.name}": ${messageOf(error)}`, { cause: error }),
      mask: target.mask,
      onTrouble,
      onEnd: () => open.delete(id),
    });
    open.set(id, { exchange, fail: over.reject });
    return exchange;
  };

  let capabilities: JsonObject;
  let { logLevel } = says;
  try {
    const result = await lastOf(request('initialize', initializeParams(says)), signal);
    capabilities = isObject(result['capabilities']) ? result['capabilities'] : {};
    await program.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    if (says.logLevel !== undefined && capabilities['logging'])
      await lastOf(request('logging/setLevel', { level: says.logLevel }), signal);
  } catch (error) {
    await program[Symbol.asyncDispose]();
    throw error;
  }
  return {
    capabilities,
    get isRunning() {
      return isRunning;
    },
    request: (method, params, { wantsProgress } = {}) => request(method, params, wantsProgress),
    setLogLevel: async (level, ending) => {
      if (level === logLevel || !capabilities['logging']) return;
      await lastOf(request('logging/setLevel', { level }), ending);
      logLevel = level;
    },
    listen: async (listener, ending) => {
      listeners.add(listener);
      const stopped = Promise.withResolvers<void>();
      ending.addEventListener('abort', () => stopped.resolve(), { once: true });
      await Promise.race([silent.promise, stopped.promise]);
      listeners.delete(listener);
    },
    [Symbol.asyncDispose]: async () => {
      for (const { exchange } of open.values()) exchange.abandon();
      await program[Symbol.asyncDispose]();
    },
  };
};

const ended = (name: string): GantryError =>
  new GantryError(
    'server_unreachable',
    `The program of server "${name}" ended before it answered; whether the request was carried out is unknown.`,
    { details: { name }, retry: 'never' },
  );
