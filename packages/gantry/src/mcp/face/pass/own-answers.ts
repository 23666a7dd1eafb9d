import { GantryError } from '../../../kernel/errors.ts';
import { isObject } from '../../../kernel/json.ts';
import { rpcErrorResponse } from './rpc-response.ts';

type Message = Readonly<Record<string, unknown>>;

const methods: readonly string[] = ['GET', 'POST', 'DELETE'];

/** Whether requests of this HTTP method are served at all. */
export const isServedMethod = (method: string): boolean => methods.includes(method);

/** Refuses a request of another HTTP method. */
export const otherMethod = (): Response => {
  const response = rpcErrorResponse(undefined, 405, -32_000, 'Method not allowed.');
  response.headers.set('allow', methods.join(', '));
  return response;
};

/** Refuses a request without a session where one is needed, or with one that is not known (MCP 2025-11-25, "Session management"). */
export const noSession = (message: Message | undefined, session: string | null): Response =>
  session === null
    ? rpcErrorResponse(message, 400, -32_000, 'Bad Request: Mcp-Session-Id header is required; initialize first.')
    : rpcErrorResponse(message, 404, -32_001, 'Session not found; initialize again.');

/** Says of a task of another client what a server says of one that it does not know. */
export const noSuchTask = (message: Message): Response => rpcErrorResponse(message, 200, -32_602, 'Task not found');

/** Refuses a call that the client's limits do not let begin. */
export const tooMany = (
  message: Message,
  { refusal, retryAfterS }: { readonly refusal: string; readonly retryAfterS: number },
): Response => {
  const response = rpcErrorResponse(message, 429, -32_000, refusal);
  response.headers.set('retry-after', String(retryAfterS));
  return response;
};

/** What is said of a request that could not be passed on, or whose answer could not. */
export const refused = (error: unknown, message: Message | undefined): Response => {
  if (!GantryError.is(error)) return rpcErrorResponse(message, 502, -32_603, 'The request could not be passed on.');
  const { rpc } = error.details;
  // An error of the server's own is an answer.
  if (isObject(rpc) && typeof rpc['code'] === 'number')
    return rpcErrorResponse(message, 200, rpc['code'], String(rpc['message']), rpc['data'] as Message | undefined);
  switch (error.code) {
    case 'limit_reached':
      return rpcErrorResponse(message, 429, -32_000, error.message);
    case 'server_unknown':
    case 'config_invalid':
      return rpcErrorResponse(message, 404, -32_601, error.message);
    case 'cancelled':
      return rpcErrorResponse(message, 499, -32_603, error.message);
    case 'stopped':
      return rpcErrorResponse(message, 503, -32_603, error.message);
    default:
      return rpcErrorResponse(message, 502, -32_603, error.message);
  }
};
