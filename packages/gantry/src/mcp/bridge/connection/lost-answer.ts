import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { JSONRPCErrorResponse, RequestId } from '@modelcontextprotocol/client';
import type { GantryErrorCode } from '../../../kernel/errors.ts';
import { GantryError } from '../../../kernel/errors.ts';
import { isObject } from '../../../kernel/json.ts';

// In the range JSON-RPC leaves to implementations, and not one that MCP has given a meaning.
const lostAnswerCode = -32_090;
const lostAnswerKey = 'gantry.dev/lost-answer';
// Stand-ins go the way of what servers send, as text too. Without the seal a server could write one, and speak as Gantry itself.
const sealKey = randomBytes(32);

const sealOf = (code: unknown, message: string, details: unknown): Buffer =>
  createHmac('sha256', sealKey)
    .update(JSON.stringify([code, message, details]))
    .digest();

const isSealed = (seal: unknown, code: unknown, message: string, details: unknown): boolean => {
  const given = Buffer.from(typeof seal === 'string' ? seal : '', 'base64url');
  const own = sealOf(code, message, details);
  return given.length === own.length && timingSafeEqual(given, own);
};

/** Stands in for an answer that will never come, so that the request it belongs to ends with the reason. */
export const toLostAnswer = (id: RequestId, error: GantryError): JSONRPCErrorResponse => ({
  jsonrpc: '2.0',
  id,
  error: {
    code: lostAnswerCode,
    message: error.message,
    data: {
      [lostAnswerKey]: {
        code: error.code,
        details: error.details,
        seal: sealOf(error.code, error.message, error.details).toString('base64url'),
      },
    },
  },
});

/** The reason inside a stand-in's error; `undefined` for an error that a server sent, whatever it says it is. */
export const fromLostAnswer = (error: {
  readonly code: unknown;
  readonly message: string;
  readonly data?: unknown;
}): GantryError | undefined => {
  if (error.code !== lostAnswerCode || !isObject(error.data)) return undefined;
  const lost = error.data[lostAnswerKey];
  if (!isObject(lost)) return undefined;
  const { code, details, seal } = lost;
  if (!isSealed(seal, code, error.message, details)) return undefined;
  return new GantryError(code as GantryErrorCode, error.message, { details: isObject(details) ? details : {} });
};

/** What is said of a request that was sent when its connection broke. */
export const brokenOff = (server: string, reason: string): string =>
  `The connection to server "${server}" broke before it answered (${reason}); whether the request was carried out is unknown.`;

/** What is said of a request whose answer had begun when its connection broke. */
export const brokenOffWithin = (server: string, reason: string): string =>
  `The connection to server "${server}" broke before its answer was whole (${reason}); whether the request was carried out is unknown.`;
