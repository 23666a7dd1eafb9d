import type { JSONRPCErrorResponse, RequestId } from '@modelcontextprotocol/client';
import type { GantryErrorCode } from '../../../kernel/errors.ts';
import { GantryError } from '../../../kernel/errors.ts';
import { isObject } from '../../../kernel/json.ts';

// In the range JSON-RPC leaves to implementations, and not one that MCP has given a meaning.
const lostAnswerCode = -32_090;
const lostAnswerKey = 'gantry.dev/lost-answer';

/** Stands in for an answer that will never come, so that the request it belongs to ends with the reason. */
export const toLostAnswer = (id: RequestId, error: GantryError): JSONRPCErrorResponse => ({
  jsonrpc: '2.0',
  id,
  error: {
    code: lostAnswerCode,
    message: error.message,
    data: { [lostAnswerKey]: { code: error.code, details: error.details } },
  },
});

/** The reason inside a stand-in's error; `undefined` for an error that a server sent. */
export const fromLostAnswer = (error: {
  readonly code: unknown;
  readonly message: string;
  readonly data?: unknown;
}): GantryError | undefined => {
  if (error.code !== lostAnswerCode || !isObject(error.data)) return undefined;
  const lost = error.data[lostAnswerKey];
  if (!isObject(lost)) return undefined;
  return new GantryError(lost['code'] as GantryErrorCode, error.message, {
    details: isObject(lost['details']) ? lost['details'] : {},
  });
};

/** What is said of a request that was sent when its connection broke. */
export const brokenOff = (server: string, reason: string): string =>
  `The connection to server "${server}" broke before it answered (${reason}); whether the request was carried out is unknown.`;

/** What is said of a request whose answer had begun when its connection broke. */
export const brokenOffWithin = (server: string, reason: string): string =>
  `The connection to server "${server}" broke before its answer was whole (${reason}); whether the request was carried out is unknown.`;
