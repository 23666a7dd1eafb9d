import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';

/** One thing a server asks: a request as it would have sent it over a session. */
export interface InputRequest {
  readonly method: string;
  readonly params: unknown;
}

/** What a server asks in the middle of a request, and what it wants back unchanged (MCP 2026-07-28, multi round-trip requests). */
export interface InputRequired {
  /** By the key that the answer stands under. */
  readonly requests: Readonly<Record<string, InputRequest>>;
  readonly requestState: string | undefined;
}

/** What the server asks before it goes on, when the result is that; else undefined. */
export const inputRequiredOf = (raw: unknown): InputRequired | undefined =>
  isObject(raw) && raw['resultType'] === 'input_required' ? readInputRequired(raw) : undefined;

/** Reads `inputRequests` and `requestState`, which tasks have too. */
export const readInputRequired = (raw: Readonly<Record<string, unknown>>): InputRequired => {
  const { inputRequests, requestState } = raw;
  return {
    // Keys are the server's; this way none of them is the prototype.
    requests: Object.fromEntries(isObject(inputRequests) ? Object.entries(inputRequests).map(toRequest) : []),
    requestState: typeof requestState === 'string' ? requestState : undefined,
  };
};

/** The handle of a task that the server runs in the background, when the result is that (SEP-2663); else undefined. */
export const taskOf = (raw: unknown): JsonObject | undefined =>
  isObject(raw) && raw['resultType'] === 'task' ? (raw as JsonObject) : undefined;

const toRequest = ([key, request]: [string, unknown]): [string, InputRequest] => {
  const method = isObject(request) ? request['method'] : undefined;
  return [
    key,
    { method: typeof method === 'string' ? method : '', params: isObject(request) ? request['params'] : undefined },
  ];
};
