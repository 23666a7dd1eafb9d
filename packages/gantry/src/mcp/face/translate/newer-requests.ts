import type { Clock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { encodedHeader } from '../../wire/header-value.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import type { ClientSays } from '../../wire/sessions/client-says.ts';
import { metaKeys } from '../../wire/sessions/client-says.ts';
import type { Exchange } from '../../wire/sessions/exchange.ts';
import { startHttpExchange } from '../../wire/sessions/http-exchange.ts';

/** A request in the words of 2026-07-28. */
export interface NewerRequest {
  readonly target: Pick<PassTarget, 'name' | 'send' | 'mask' | 'parameterHeaders'>;
  readonly says: ClientSays;
  readonly method: string;
  readonly params: JsonObject;
  /** Whether the client wants to hear of progress. */
  readonly wantsProgress: boolean;
}

const revision = '2026-07-28';

/** Sends requests to servers of 2026-07-28 over HTTP; each says all there is to say of its client. */
export const createNewerRequests = ({ clock, log }: { readonly clock: Clock; readonly log: Log }) => {
  let count = 0;
  return ({ target, says, method, params, wantsProgress }: NewerRequest): Exchange => {
    count += 1;
    const id = `g${count}`;
    const given = isObject(params['_meta']) ? params['_meta'] : {};
    const meta = {
      ...given,
      [metaKeys.protocolVersion]: revision,
      [metaKeys.clientInfo]: says.clientInfo,
      [metaKeys.capabilities]: says.capabilities,
      ...(says.logLevel !== undefined && { [metaKeys.logLevel]: says.logLevel }),
      ...(wantsProgress && { progressToken: id }),
    };
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } });
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
  target: NewerRequest['target'],
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
