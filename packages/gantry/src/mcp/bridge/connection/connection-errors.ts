import { GantryError, messageOf } from '../../../kernel/errors.ts';
import { isObject } from '../../../kernel/json.ts';
import { flattenText } from '../../../text/flatten.ts';
import { scrubText } from '../../../text/scrub.ts';
import { withPlainIssues } from '../../wire/plain-issues.ts';
import type { MaskSecrets } from '../config/entry-secrets.ts';
import { fromLostAnswer } from './lost-answer.ts';

/** What went wrong between the bridge and a server. */
export type ConnectionFault =
  /** The server itself refused the request with a JSON-RPC error. */
  | { readonly kind: 'refused'; readonly code: number; readonly message: string }
  /** A person has to sign in (status 401), or may not do this (403). */
  | { readonly kind: 'auth'; readonly message: string; readonly status: number | undefined }
  /** The server no longer knows the session; the request was not carried out. */
  | { readonly kind: 'session_lost'; readonly message: string }
  /**
   * The connection is gone or could not be made. `notRun`: the request provably never reached the server. `status`: what stands before
   * the server said so; without one, the connection itself broke.
   */
  | {
      readonly kind: 'disconnected';
      readonly message: string;
      readonly notRun: boolean;
      readonly status?: number | undefined;
    }
  /** The answer was cut off; the connection is as good as before, and whether the request was carried out is unknown. */
  | { readonly kind: 'cut_off'; readonly message: string }
  /** An answer that cannot be used; the connection is as good as before. */
  | { readonly kind: 'bad_answer'; readonly message: string };

// Nothing was sent when these came up.
const notSentCodes: ReadonlySet<unknown> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
  'NOT_CONNECTED',
]);
const brokenCodes: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'UND_ERR_SOCKET',
  'UND_ERR_CLOSED',
  'UND_ERR_DESTROYED',
  'UND_ERR_ABORTED',
  'CONNECTION_CLOSED',
  'ERR_STREAM_DESTROYED',
]);

// The protocol has 404 for an unknown session. Servers made after the examples of the v1 SDK (server-everything 2026.8.31 is one) look
// the session up before they do anything else, and say so with status 400.
const unknownSession =
  /no valid session id|invalid session id|unknown session|session (?:id )?(?:was )?not found|server not initialized/i;

/**
 * Reads what the SDK, the HTTP client or the bridge itself threw while talking to a server.
 * @param options `mask` hides the secrets of the server's entry, which a server may repeat in its errors.
 */
export const toConnectionFault = (
  error: unknown,
  { hadSession, mask = asItIs }: { hadSession: boolean; mask?: MaskSecrets | undefined },
): ConnectionFault => {
  const fault = readFault(error, hadSession, mask);
  return { ...fault, message: mask(fault.message) };
};

const asItIs: MaskSecrets = (text) => text;

const readFault = (error: unknown, hadSession: boolean, mask: MaskSecrets): ConnectionFault => {
  const status = statusOf(error);
  if (status === 401 || status === 403 || isUnauthorized(error)) return authFault(error, status, mask);
  if (status === 404 && hadSession)
    return { kind: 'session_lost', message: 'it answered with status 404: it does not know the session any more' };
  if (status === 400 && hadSession && unknownSession.test(bodyOf(error) ?? ''))
    return {
      kind: 'session_lost',
      message: `it does not know the session any more: ${httpFault(error, status, mask).message}`,
    };
  if (status !== undefined) return httpFault(error, status, mask);
  const refusal = refusalOf(error);
  if (refusal) return refusal;
  const own = ownErrorOf(error);
  if (own?.code === 'auth_required') {
    const ownStatus = own.details?.['status'];
    return { kind: 'auth', message: own.message, status: typeof ownStatus === 'number' ? ownStatus : undefined };
  }
  if (GantryError.is(error)) {
    const rpc = error.details['rpc'];
    if (isObject(rpc) && typeof rpc['code'] === 'number')
      return { kind: 'refused', code: rpc['code'], message: error.message };
    if (error.code === 'server_unreachable')
      return { kind: 'disconnected', message: error.message, notRun: error.retry === 'same' };
    return { kind: 'bad_answer', message: error.message };
  }
  const codes = codesOf(error);
  if (codes.some((code) => notSentCodes.has(code)) || isConnectFailure(error) || messageOf(error) === 'Not connected')
    return { kind: 'disconnected', message: reasonOf(error, mask), notRun: true };
  if (codes.some((code) => brokenCodes.has(code)) || chainOf(error).some(isFetchFailure))
    return { kind: 'disconnected', message: reasonOf(error, mask), notRun: false };
  return { kind: 'bad_answer', message: `its answer cannot be read (${reasonOf(error, mask)})` };
};

/** The bridge's own error inside what the SDK made of it. */
export const ownErrorOf = (error: unknown): GantryError | undefined => chainOf(error).find(GantryError.is);

// Codes such as ETIMEDOUT come up before a connection as well as on one. A certificate is looked at before anything is sent.
const certificateCode = /^(?:CERT_|UNABLE_TO_|DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT|ERR_TLS_CERT_)/;
const isConnectFailure = (error: unknown): boolean =>
  chainOf(error).some((link) => {
    const { syscall, code } = link as { syscall?: unknown; code?: unknown };
    return syscall === 'connect' || (typeof code === 'string' && certificateCode.test(code));
  });

const isFetchFailure = (link: object): boolean => /^(fetch failed|terminated)$/.test(messageOf(link));

const authFault = (error: unknown, status: number | undefined, mask: MaskSecrets): ConnectionFault => ({
  kind: 'auth',
  status,
  message: `it needs sign-in${status === undefined ? '' : ` (status ${status})`}${bodyStart(error, mask)}`,
});

const httpFault = (error: unknown, status: number, mask: MaskSecrets): ConnectionFault => {
  const message = `it answered with status ${status}${bodyStart(error, mask)}`;
  // What stands before the server says these; whether the server got the request, nobody knows.
  return [502, 503, 504].includes(status)
    ? { kind: 'disconnected', message, notRun: false, status }
    : { kind: 'bad_answer', message };
};

const refusalOf = (error: unknown): ConnectionFault | undefined => {
  if (!(error instanceof Error) || error instanceof DOMException || !('code' in error)) return undefined;
  const { code } = error;
  if (typeof code !== 'number' || isSseError(error)) return undefined;
  const lost = fromLostAnswer({ code, message: error.message, data: 'data' in error ? error.data : undefined });
  if (lost) return { kind: lost.code === 'server_unreachable' ? 'cut_off' : 'bad_answer', message: lost.message };
  return { kind: 'refused', code, message: error.message };
};

const isUnauthorized = (error: unknown): boolean => error instanceof Error && error.name === 'UnauthorizedError';

/** Whether the stream of the old SSE transport has failed. The SDK gives the class no name; its messages begin so. */
export const isSseError = (error: unknown): boolean =>
  error instanceof Error && error.message.startsWith('SSE error: ');

/** Whether it is a server's own error in JSON-RPC: what stands in it the server has written. The SDK's have codes that are texts. */
const isRpcError = (link: object): boolean =>
  typeof (link as { code?: unknown }).code === 'number' && !isSseError(link) && !('status' in link);

/** The HTTP status that an error tells of. */
export const statusOf = (error: unknown): number | undefined => {
  for (const link of chainOf(error)) {
    if (isRpcError(link)) continue;
    const { data, status } = link as { data?: unknown; status?: unknown };
    if (typeof status === 'number') return status;
    if (isObject(data) && typeof data['status'] === 'number') return data['status'];
    // The old transports put it into the message, and the one for streams into `code`.
    if (isSseError(link) && typeof (link as { code?: unknown }).code === 'number')
      return (link as { code?: number }).code;
    const inText = /^Error POSTing to endpoint \(HTTP (\d{3})\)/.exec(messageOf(link));
    if (inText) return Number(inText[1]);
  }
  return undefined;
};

/** The body of an HTTP error, where the SDK kept it. */
export const bodyOf = (error: unknown): string | undefined => {
  for (const link of chainOf(error)) {
    const { data } = link as { data?: unknown };
    if (isObject(data) && typeof data['text'] === 'string') return data['text'];
  }
  return undefined;
};

const bodyStart = (error: unknown, mask: MaskSecrets): string => {
  const body = bodyOf(error);
  const start = body === undefined ? '' : scrubText(flattenText(mask(body), { maxChars: 200 }));
  return start === '' ? '' : `: ${start}`;
};

const chainOf = (error: unknown): object[] => {
  const chain: object[] = [];
  for (let link: unknown = error; typeof link === 'object' && link !== null && chain.length < 8;) {
    chain.push(link);
    link = (link as { cause?: unknown }).cause;
  }
  return chain;
};

const codesOf = (error: unknown): unknown[] => chainOf(error).map((link) => (link as { code?: unknown }).code);

/** The innermost message that says something: "fetch failed" has its reason in its cause. */
const reasonOf = (error: unknown, mask: MaskSecrets): string => {
  const messages = chainOf(error).map((link) => {
    const { code } = link as { code?: unknown };
    return messageOf(link) || (typeof code === 'string' ? code : '');
  });
  const last = messages.findLast((message) => message !== '' && message !== '[object Object]');
  return scrubText(flattenText(mask(withPlainIssues(last ?? messageOf(error))), { maxChars: 300 }));
};
