import { SUBSCRIPTION_ID_META_KEY } from '@modelcontextprotocol/server';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import { messageEvent } from '../pass/event-texts.ts';
import { rpcErrorResponse } from '../pass/rpc-response.ts';
import type { Notice } from './exchange.ts';
import type { LeasedSession, LeaseSession } from './older-sessions.ts';

/** A `subscriptions/listen` of a client of 2026. */
export interface ListenRequest {
  readonly target: PassTarget;
  readonly client: string | undefined;
  readonly message: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
}

const listFlags = {
  toolsListChanged: ['tools', 'notifications/tools/list_changed'],
  promptsListChanged: ['prompts', 'notifications/prompts/list_changed'],
  resourcesListChanged: ['resources', 'notifications/resources/list_changed'],
} as const;
const keepAliveMs = 15_000;

/** Makes streams of notices for clients of 2026, each over a session of its own with the server of 2025 that gives the notices. */
export const createListenToOlder =
  ({ lease, clock, log }: { readonly lease: LeaseSession; readonly clock: Clock; readonly log: Log }) =>
  async ({ target, client, message, signal }: ListenRequest): Promise<Response> => {
    const { id } = message;
    const wanted = isObject(message['params']) ? message['params']['notifications'] : undefined;
    if ((typeof id !== 'string' && typeof id !== 'number') || !isObject(wanted))
      return rpcErrorResponse(message, 400, -32_602, 'Invalid params: "notifications" says what to listen to.');
    const says = { clientInfo: { name: 'gantry', version: '0' }, capabilities: {}, logLevel: undefined };
    const leased = await lease({ target, client, says, forNotices: true }, signal);
    const honored = await subscribe(leased, wanted, signal).catch((error: unknown) => {
      leased.giveBack('broken');
      throw error;
    });
    return streamOf({
      id,
      honored,
      leased,
      clock,
      signal,
      report: (reason) => log.debug({ server: target.name, reason }, 'a stream of notices ended'),
    });
  };

/** Subscribes to what the server can tell of; gives that part of what is wanted. */
const subscribe = async (
  { session }: LeasedSession,
  wanted: Readonly<Record<string, unknown>>,
  signal: AbortSignal,
): Promise<JsonObject> => {
  const can = (name: string, what: string): boolean => {
    const capability = session.capabilities[name];
    return isObject(capability) && capability[what] === true;
  };
  const lists = Object.entries(listFlags).filter(([flag, [name]]) => wanted[flag] === true && can(name, 'listChanged'));
  const uris =
    Array.isArray(wanted['resourceSubscriptions']) && can('resources', 'subscribe')
      ? wanted['resourceSubscriptions']
      : [];
  for (const uri of uris) await session.request('resources/subscribe', { uri: String(uri) }).next(signal);
  return {
    ...Object.fromEntries(lists.map(([flag]) => [flag, true])),
    ...(uris.length > 0 && { resourceSubscriptions: uris.map(String) }),
  };
};

const streamOf = (options: {
  readonly id: string | number;
  readonly honored: JsonObject;
  readonly leased: LeasedSession;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly report: (reason: string) => void;
}): Response => {
  const { id, honored, leased, clock, signal } = options;
  const encoder = new TextEncoder();
  let end = (): void => {};
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      let isOver = false;
      let alive: Timer | undefined;
      const write = (text: string): void => {
        if (!isOver) controller.enqueue(encoder.encode(text));
      };
      const say = (said: JsonObject): void => write(messageEvent(JSON.stringify({ jsonrpc: '2.0', ...said })));
      const stamp = { [SUBSCRIPTION_ID_META_KEY]: id };
      const keepAlive = (): void => {
        write(': keepalive\n\n');
        alive = clock.startTimer(keepAliveMs, keepAlive);
      };
      end = () => {
        if (isOver) return;
        isOver = true;
        alive?.stop();
        signal.removeEventListener('abort', end);
        // Its subscriptions end with the session.
        leased.giveBack('broken');
      };
      const finish = (): void => {
        if (isOver) return;
        say({ id, result: { resultType: 'complete', _meta: stamp } });
        end();
        controller.close();
      };
      say({ method: 'notifications/subscriptions/acknowledged', params: { notifications: honored, _meta: stamp } });
      if (Object.keys(honored).length === 0) return finish();
      alive = clock.startTimer(keepAliveMs, keepAlive);
      signal.addEventListener('abort', end, { once: true });
      const hear = ({ method, params }: Notice): void => {
        if (!isWanted(honored, method)) return;
        say({
          method,
          params: { ...params, _meta: { ...(isObject(params['_meta']) ? params['_meta'] : {}), ...stamp } },
        });
      };
      leased.session.listen(hear).then(finish, (error: unknown) => {
        options.report(messageOf(error));
        finish();
      });
    },
    cancel: () => end(),
  });
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
  });
};

const isWanted = (honored: JsonObject, method: string): boolean => {
  if (method === 'notifications/resources/updated') return Array.isArray(honored['resourceSubscriptions']);
  return Object.entries(listFlags).some(([flag, [, notice]]) => notice === method && honored[flag] === true);
};
