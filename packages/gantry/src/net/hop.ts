import { GantryError } from '../kernel/errors.ts';
import { isCredentialName } from '../text/credential-name.ts';
import { acceptedEncodings } from './decode-body.ts';
import type { Target } from './address/target.ts';
import { parseTarget } from './address/target.ts';

/** One request of a call; a redirect makes the next. */
export interface Hop {
  readonly target: Target;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | Uint8Array | null;
}

/** What a request is made of, as in the fetch standard. */
export interface HopInit {
  readonly method?: string | undefined;
  readonly headers?: RequestInit['headers'];
  readonly body?: RequestInit['body'];
}

/** The first request of a call. A body is read into memory, so that a redirect can send it again. */
export const firstHop = async (url: string | URL, init: HopInit): Promise<Hop> => {
  const target = parseTarget(url);
  const method = (init.method ?? 'GET').toUpperCase();
  const headers = new Headers(init.headers);
  for (const name of connectionHeaders) headers.delete(name);
  if (!headers.has('accept-encoding')) headers.set('accept-encoding', acceptedEncodings);
  const given = init.body ?? null;
  if (given === null) return { target, method, headers, body: null };
  // The standard's own rules say which content type goes with which kind of body.
  const content = new Response(given);
  const type = content.headers.get('content-type');
  if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
  return { target, method, headers, body: typeof given === 'string' ? given : await content.bytes() };
};

/** True for the statuses that send the caller elsewhere. */
export const isRedirect = (status: number): boolean =>
  status === 301 || status === 302 || status === 303 || status === 307 || status === 308;

/**
 * The request that a redirect asks for. The location gets every check of the first URL; credentials stay with the origin they were
 * meant for.
 *
 * @throws {GantryError} `execution_failed` without one location, `address_refused` for one that policy does not allow.
 */
export const nextHop = (hop: Hop, status: number, location: string | string[] | undefined): Hop => {
  const from = hop.target;
  if (typeof location !== 'string')
    throw new GantryError(
      'execution_failed',
      `"${from.host}" answered HTTP ${status} without saying where to go (one Location).`,
    );
  // Header values are read byte by byte; a location that is not ASCII is UTF-8 on the web.
  const target = parseTarget(Buffer.from(location, 'latin1').toString(), from.url);
  const headers = new Headers(hop.headers);
  const toGet = status === 303 ? hop.method !== 'HEAD' : status <= 302 && hop.method === 'POST';
  for (const name of hop.headers.keys()) {
    const foreign = target.url.origin !== from.url.origin && isSecretHeader(name);
    if (foreign || (toGet && name.startsWith('content-'))) headers.delete(name);
  }
  return { target, method: toGet ? 'GET' : hop.method, headers, body: toGet ? null : hop.body };
};

const isSecretHeader = (name: string): boolean => isCredentialName(name) || secretHeaders.has(name);

const secretHeaders: ReadonlySet<string> = new Set(['mcp-session-id', 'x-auth', 'x-session-id']);

/** What belongs to the connection is ours: `Host` above all decides the TLS name. */
const connectionHeaders = [
  'host',
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
] as const;
