import type { FetchLike, RequestId } from '@modelcontextprotocol/client';
import { GantryError } from '../../../kernel/errors.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import { toLostAnswer } from './lost-answer.ts';

/** The id of the JSON-RPC request in a body; undefined for notices, answers and anything else. */
export const requestIdOf = (body: unknown): RequestId | undefined => {
  const request = typeof body === 'string' ? parseJson(body) : undefined;
  if (!request?.ok || !isObject(request.value) || typeof request.value['method'] !== 'string') return undefined;
  const { id } = request.value;
  return typeof id === 'string' || typeof id === 'number' ? id : undefined;
};

/**
 * An answer as it is, or in the place of one to another request an error to this one: nobody would wait for the former, and the request
 * would end at its time-out only.
 */
export const checkAnswer = (answer: unknown, requestBody: unknown, server: string): unknown => {
  if (!isObject(answer) || answer['jsonrpc'] !== '2.0' || 'method' in answer || typeof requestBody !== 'string')
    return answer;
  // Far cheaper than parsing the request: its id stands in it somewhere.
  if (requestBody.includes(`"id":${JSON.stringify(answer['id'])}`)) return answer;
  // An error without an id says that the request could not be read, which is about this one.
  const id = requestIdOf(requestBody);
  if (id === undefined) return answer;
  if (isObject(answer['error']) && (answer['id'] === null || answer['id'] === undefined)) return { ...answer, id };
  return toLostAnswer(id, noAnswer(server, 'answered another request than the one it was sent'));
};

/** Gives requests that a Streamable HTTP server only acknowledges (202 is for notices) an error for an answer. */
export const withoutAcknowledgedRequests =
  (fetch: FetchLike, server: string): FetchLike =>
  async (url, init) => {
    const answer = await fetch(url, init);
    if (answer.status !== 202) return answer;
    const id = requestIdOf(init?.body);
    if (id === undefined) return answer;
    await answer.text();
    return Response.json(toLostAnswer(id, noAnswer(server, 'acknowledged the request (status 202) without an answer')));
  };

const noAnswer = (server: string, what: string): GantryError =>
  new GantryError('server_unreachable', `Server "${server}" ${what}; whether the request was carried out is unknown.`, {
    details: { name: server },
  });
