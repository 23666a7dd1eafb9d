import type { Log } from '../kernel/log.ts';

/** What a client is told that is not served. */
export const refusal = (
  status: 401 | 403 | 404 | 413 | 500 | 503,
  code: string,
  message: string,
  { isRetryable = false, headers }: { readonly isRetryable?: boolean; readonly headers?: Record<string, string> } = {},
): Response =>
  Response.json({ error: { code, message, isRetryable } }, { status, ...(headers !== undefined && { headers }) });

/** Tells the log what happened, and the client that it should look there. */
export const unexpected = (error: unknown, path: string, log: Log): Response => {
  log.error({ err: error, path }, 'a request failed unexpectedly');
  return refusal(500, 'internal', 'The request failed unexpectedly; the log of the gateway says why.');
};
