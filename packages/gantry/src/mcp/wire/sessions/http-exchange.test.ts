import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { HttpWay } from './http-exchange.ts';
import { startHttpExchange } from './http-exchange.ts';

const never = new AbortController().signal;
const stream = (...texts: readonly string[]): Response =>
  new Response(texts.join(''), { headers: { 'content-type': 'text/event-stream' } });
const event = (message: object, more = ''): string =>
  `${more}data: ${JSON.stringify({ jsonrpc: '2.0', ...message })}\n\n`;

const start = (answers: readonly (Response | Error)[], more: Partial<HttpWay> = {}) => {
  const left = [...answers];
  const told: JsonObject[] = [];
  const resumed: string[] = [];
  const clock = fakeClock();
  const next = async (): Promise<Response> => {
    const answer = left.shift() ?? new Error('nothing more');
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const exchange = startHttpExchange({
    server: 's',
    id: 'g1',
    post: next,
    resume: (lastEventId) => {
      resumed.push(lastEventId);
      return next();
    },
    tell: async (message) => void told.push(message),
    tellsCancelled: true,
    mask: (text) => text.replaceAll('sesame', '***'),
    clock,
    onTrouble: () => {},
    ...more,
  });
  return { exchange, told, resumed, clock };
};

describe('a request to a server over HTTP', () => {
  it('gives the questions of the server, and then its result', async () => {
    const { exchange, told } = start([
      stream(
        event({ id: 5, method: 'roots/list' }),
        event({ id: 6, method: 'ping' }),
        event({ id: 'g1', result: { ok: 1 } }),
      ),
    ]);
    expect(await exchange.next(never)).toEqual({ asked: [{ id: 5, method: 'roots/list' }] });
    await exchange.answer(5, { result: { roots: [] } });
    expect(await exchange.next(never)).toEqual({ result: { ok: 1 } });
    expect(told).toEqual(
      expect.arrayContaining([
        { jsonrpc: '2.0', id: 6, result: {} },
        { jsonrpc: '2.0', id: 5, result: { roots: [] } },
      ]),
    );
  });

  it('forgets a question that the server takes back', async () => {
    const { exchange } = start([
      stream(
        event({ id: 5, method: 'roots/list' }),
        event({ method: 'notifications/cancelled', params: { requestId: 5 } }),
        event({ id: 'g1', result: {} }),
      ),
    ]);
    const steps = [await exchange.next(never)];
    if ('asked' in (steps[0] ?? {})) steps.push(await exchange.next(never));
    expect(steps.at(-1)).toEqual({ result: {} });
  });

  it('takes up a stream that the server ends early, when it says and from where it stood', async () => {
    const { exchange, resumed, clock } = start([
      stream('id: e1\nretry: 2000\ndata: \n\n'),
      stream(event({ id: 'g1', result: { late: true } }, 'id: e2\n')),
    ]);
    const result = exchange.next(never);
    await clock.advance(1_999);
    expect(resumed).toEqual([]);
    await clock.advance(1);
    expect(await result).toEqual({ result: { late: true } });
    expect(resumed).toEqual(['e1']);
  });

  it.each([
    [
      'a stream without an answer',
      [stream(event({ method: 'notifications/message' }))],
      'whether the request was carried out is unknown',
    ],
    ['a connection that breaks', [new Error('reset at sesame')], 'broke (reset at ***)'],
    ['a page', [new Response('<html>', { status: 502 })], 'HTTP status 502'],
    ['a want of a sign-in', [new Response('', { status: 401 })], 'gantry servers login s'],
  ])('says what became of it: %s', async (_what, answers, text) => {
    await expect(start(answers).exchange.next(never)).rejects.toThrow(text);
  });

  it.each([
    ['an error that is a text', { error: 'boom' }],
    ['an error that is nothing', { error: null }],
    ['a result that is a list', { result: [1] }],
    ['neither a result nor an error', {}],
  ])('fails with an answer that cannot be read: %s', async (_what, said) => {
    const { exchange } = start([Response.json({ jsonrpc: '2.0', id: 'g1', ...said })]);
    await expect(exchange.next(never)).rejects.toThrow('neither a result nor an error that can be read');
  });

  it('takes the reason of a refusal that names no request for its own', async () => {
    const refusal = { jsonrpc: '2.0', id: null, error: { code: -32_600, message: 'not like that' } };
    const { exchange } = start([Response.json(refusal, { status: 400 })]);
    await expect(exchange.next(never)).rejects.toMatchObject({ message: 'not like that' });
  });

  it('refuses more questions than anybody answers', async () => {
    const questions = Array.from({ length: 60 }, (_, id) => event({ id, method: 'roots/list' }));
    const { exchange, told } = start([stream(...questions)]);
    await expect.poll(() => told).toHaveLength(10);
    expect(told.every(({ error }) => error !== undefined)).toBe(true);
    expect(await exchange.next(never)).toMatchObject({ asked: { length: 50 } });
  });

  it('goes on with a stream that is cut off often, as long as it brings something new', async () => {
    const cut = Array.from({ length: 30 }, (_, n) =>
      stream(event({ method: 'notifications/message', params: {} }, `id: e${n}\nretry: 0\n`)),
    );
    const { exchange, clock } = start([...cut, stream(event({ id: 'g1', result: { done: true } }))]);
    const result = exchange.next(never);
    for (let n = 0; n < 40; n += 1) await clock.advance(1);
    expect(await result).toEqual({ result: { done: true } });
  });

  it('keeps the code and the data of an error of the server', async () => {
    const { exchange } = start([
      Response.json({ jsonrpc: '2.0', id: 'g1', error: { code: -32_050, message: 'no sesame', data: { a: 1 } } }),
    ]);
    await expect(exchange.next(never)).rejects.toMatchObject({
      details: { rpc: { code: -32_050, message: 'no ***', data: { a: 1 } } },
    });
  });

  it('is not waited for by one who has gone, and given up once', async () => {
    const { exchange, told } = start([], { post: () => new Promise(() => {}) });
    const gone = new AbortController();
    const waiting = exchange.next(gone.signal);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    exchange.abandon();
    exchange.abandon();
    expect(told).toEqual([{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'g1' } }]);
    await expect(exchange.next(never)).rejects.toThrow('given up');
  });

  it('is over with its answer, whatever the server says after it', async () => {
    const { exchange } = start([
      stream(
        event({ id: 'g1', result: { first: true } }),
        event({ id: 'g1', result: { second: true } }),
        event({ id: 9, method: 'roots/list' }),
      ),
    ]);
    expect(await exchange.next(never)).toEqual({ result: { first: true } });
    expect(await exchange.next(never)).toEqual({ result: { first: true } });
  });
});
