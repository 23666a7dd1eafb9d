import { orAborted } from '../../../../kernel/abort.ts';
import { GantryError } from '../../../../kernel/errors.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import type { Exchange, Notice, Step } from '../../../wire/sessions/exchange.ts';
import type { NewerRequest } from '../newer-requests.ts';

/** A request that was sent, and the server's side of it. */
export interface SentRequest {
  readonly method: string;
  readonly params: JsonObject;
  isAbandoned: boolean;
  tell(notice: Notice): void;
  answer(result: JsonObject): void;
  fail(error: unknown): void;
}

/** Takes requests to servers of 2026 in the place of a connection; `answers` may answer one at once. */
export const fakeSender = (
  answers: (request: NewerRequest) => JsonObject | undefined = () => undefined,
): { readonly sent: readonly SentRequest[]; readonly send: (request: NewerRequest) => Exchange } => {
  const sent: SentRequest[] = [];
  const send = (request: NewerRequest): Exchange => {
    const { method, params } = request;
    const settled = Promise.withResolvers<Step>();
    settled.promise.catch(() => undefined);
    let hear = (_notice: Notice): void => {};
    const one: SentRequest = {
      method,
      params,
      isAbandoned: false,
      tell: (notice) => hear(notice),
      answer: (result) => settled.resolve({ result }),
      fail: (error) => settled.reject(error),
    };
    sent.push(one);
    const result = answers(request);
    if (result) one.answer(result);
    return {
      next: (signal) => orAborted(settled.promise, signal),
      answer: async () => {},
      hear: (listener) => {
        hear = listener;
      },
      take: () => {},
      abandon: () => {
        one.isAbandoned = true;
        settled.reject(new GantryError('cancelled', 'given up'));
      },
    };
  };
  return { sent, send };
};
