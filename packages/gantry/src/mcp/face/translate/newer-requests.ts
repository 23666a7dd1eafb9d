import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { encodedHeader } from '../../wire/header-value.ts';
import type { ChannelRequest, PassTarget } from '../../wire/pass-port.ts';
import type { ClientSays } from '../../wire/sessions/client-says.ts';
import { metaKeys } from '../../wire/sessions/client-says.ts';
import type { Exchange } from '../../wire/sessions/exchange.ts';
import { startExchange } from '../../wire/sessions/exchange.ts';
import { startHttpExchange } from '../../wire/sessions/http-exchange.ts';
import { withinSilence } from './silence.ts';

/** A request in the words of 2026-07-28. */
export interface NewerRequest {
  readonly target: PassTarget;
  readonly client: string | undefined;
  readonly says: ClientSays;
  readonly method: string;
  readonly params: JsonObject;
  /** Whether the client wants to hear of progress. */
  readonly wantsProgress: boolean;
  /** Of a request to a program, who may hear what that says because of it (see `ownerOf`). */
  readonly owner: unknown;
}

/** What these speak. */
export const revision = '2026-07-28';

/** Sends requests to servers of 2026-07-28, over HTTP or as programs; each says all there is to say of its client. */
export const createNewerRequests = ({ clock, log }: { readonly clock: Clock; readonly log: Log }) => {
  // Several of these may reach the same program.
  const prefix = newId();
  let count = 0;
  return ({ target, client, says, method, params, wantsProgress, owner }: NewerRequest): Exchange => {
    count += 1;
    const id = `${prefix}:${count}`;
    const given = isObject(params['_meta']) ? params['_meta'] : {};
    const meta = {
      ...given,
      [metaKeys.protocolVersion]: revision,
      [metaKeys.clientInfo]: says.clientInfo,
      [metaKeys.capabilities]: says.capabilities,
      ...(says.logLevel !== undefined && { [metaKeys.logLevel]: says.logLevel }),
      ...(wantsProgress && { progressToken: id }),
    };
    const sent = { ...params, _meta: meta };
    if (!target.isHttp) {
      const exchange = overLink(target, {
        id,
        method,
        params: sent,
        client,
        owner,
        wantsLog: says.logLevel !== undefined,
      });
      // Over HTTP its time is bounded where it is sent.
      return method === 'subscriptions/listen' ? exchange : withinSilence(exchange, target, clock);
    }
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: sent });
    const headers = { ...headersOf(target, method, params) };
    return startHttpExchange({
      server: target.name,
      id,
      post: (signal) => target.send({ method: 'POST', headers, body, signal }),
      // Nothing can be told to a server that knows no sessions; it never asks.
      tell: async () => {},
      tellsCancelled: false,
      mask: target.mask,
      clock,
      onTrouble: (reason) => log.debug({ server: target.name, reason }, 'a message could not be passed on'),
    });
  };
};

const overLink = ({ link, name }: PassTarget, request: ChannelRequest): Exchange => {
  if (link.startExchange) return link.startExchange(request);
  const why = `Server "${name}" does not speak the protocol of 2026 any more.`;
  return startExchange({
    id: request.id,
    send: () => Promise.reject(new GantryError('server_unreachable', why)),
    tell: async () => {},
    tellsCancelled: false,
    toError: () => new GantryError('server_unreachable', why),
    mask: (text) => text,
    onTrouble: () => {},
  });
};

// MCP 2026-07-28, "Standard request headers" (SEP-2243), and those of tasks (SEP-2663).
const nameKeys: Readonly<Record<string, string>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
  'tasks/get': 'taskId',
  'tasks/update': 'taskId',
  'tasks/cancel': 'taskId',
};

const headersOf = (
  target: Pick<PassTarget, 'parameterHeaders'>,
  method: string,
  params: JsonObject,
): Readonly<Record<string, string>> => {
  const key = Object.hasOwn(nameKeys, method) ? nameKeys[method] : undefined;
  const name = key === undefined ? undefined : params[key];
  const args = isObject(params['arguments']) ? params['arguments'] : {};
  return {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': revision,
    'mcp-method': method,
    ...(typeof name === 'string' && { 'mcp-name': encodedHeader(name) }),
    ...(method === 'tools/call' && typeof name === 'string' && target.parameterHeaders(name, args)),
  };
};
