import { expect, it } from 'vitest';
import { toLeanResponse } from './lean-response.ts';

const answer = (status: number) => {
  let isAbandoned = false;
  const body = {
    text: async () => 'said',
    abandon: () => void (isAbandoned = true),
    async *[Symbol.asyncIterator]() {
      yield Buffer.from('data: 1\n\n');
    },
  };
  const head = { status, statusText: '', headers: { 'content-type': 'text/event-stream' } };
  const limit = { maxBytes: 1_000, server: 's' };
  const response = toLeanResponse('http://s.example/', { ...head, body }, { limit, requestBody: undefined });
  return { response, isAbandoned: () => isAbandoned };
};

it.each([204, 205, 304])('an answer with status %i has no body, whatever its type says', (status) => {
  const { response, isAbandoned } = answer(status);
  const { body } = response;
  expect([body, isAbandoned()]).toEqual([null, true]);
  expect(new Response(body, response).status).toBe(status);
});

it('an answer with a number that is no status is an error of the server', async () => {
  const { response } = answer(999);
  expect([response.status, response.ok, await response.text()]).toEqual([500, false, 'said']);
  expect(new Response(response.body, response).status).toBe(500);
});
