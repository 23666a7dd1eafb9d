import { Hono } from 'hono';
import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { silentLog } from '../../kernel/log.ts';
import { makeOperationDeps } from '../../testing/make-operation-deps.ts';
import { defineTool } from '../../tool/define-tool.ts';
import { allOperations } from '../all-operations.ts';
import type { AnyOperation } from '../operation.ts';
import { defineOperation } from '../operation.ts';
import type { OperationDeps } from '../operation-deps.ts';
import { serversShow } from '../servers.ts';
import { toolsCall } from '../tools-call.ts';
import { toolsList } from '../tools.ts';
import { callOperation } from './client.ts';
import { mountOperations } from './http-routes.ts';

const echo = defineTool({
  name: 'echo',
  description: 'Gives back.',
  input: z.strictObject({ text: z.string() }),
  execute: ({ text }) => text,
});
const secret = defineTool({ name: 'secret', description: 'd', available: () => false, execute: () => 'x' });

const appOf = (deps: OperationDeps, operations: readonly AnyOperation[] = allOperations): Hono => {
  const app = new Hono();
  mountOperations(app, operations, deps);
  return app;
};
const app = appOf(makeOperationDeps([echo, secret]));
const get = async (target: string): Promise<[number, unknown]> => {
  const response = await app.request(target);
  return [response.status, await response.json()];
};
const post = async (target: string, body: string): Promise<[number, unknown]> => {
  const response = await app.request(target, { method: 'POST', body });
  return [response.status, await response.json()];
};

describe('a request', () => {
  it('takes its input from path and query', async () => {
    expect(await get('/api/v1/tools')).toMatchObject([200, { tools: [{ name: 'echo' }] }]);
    expect(await get('/api/v1/tools?all=true')).toMatchObject([200, { tools: [{}, {}] }]);
    expect(await get('/api/v1/tools?all=false&source=other')).toEqual([200, { tools: [] }]);
    expect(await get('/api/v1/tools/echo')).toMatchObject([200, { name: 'echo', available: true }]);
  });

  it('takes its input from path and body', async () => {
    const body = JSON.stringify({ arguments: { text: 'hi' } });
    expect(await post('/api/v1/tools/echo/call', body)).toMatchObject([200, { status: 'done', content: 'hi' }]);
    expect(await post('/api/v1/servers/refresh', '')).toEqual([200, { servers: [] }]);
  });

  it('gets failures of a call as results', async () => {
    expect(await post('/api/v1/tools/nope/call', '{}')).toMatchObject([200, { error: { code: 'tool_not_found' } }]);
    expect(await post('/api/v1/tools/echo/call', '{"arguments":"nonsense"}')).toMatchObject([
      200,
      { isError: true, error: { code: 'invalid_arguments' } },
    ]);
  });

  it.each([
    ['a query that is not known', '/api/v1/tools?al=true', 'al: there is no such input; did you mean "all"?'],
    ['a query of the wrong type', '/api/v1/tools?all=perhaps', 'all: '],
    ['a query given twice', '/api/v1/tools?source=a&source=b', 'source: '],
  ])('is refused for %s', async (_name, target, part) => {
    expect(await get(target)).toEqual([
      400,
      { error: { code: 'invalid_arguments', message: expect.stringContaining(part), isRetryable: false } },
    ]);
  });

  it.each([
    ['no JSON', '{"arguments":', 'is not JSON'],
    ['no object', '[1]', 'is no JSON object'],
    ['arguments that are none', '{"arguments":5}', 'arguments: send a JSON object such as {"query": "x"}, or its text'],
    ['an unknown member', '{"argument":{}}', 'argument: there is no such input; did you mean "arguments"?'],
  ])('is refused for a body that has %s', async (_name, body, part) => {
    expect(await post('/api/v1/tools/echo/call', body)).toMatchObject([
      400,
      { error: { code: 'invalid_arguments', message: expect.stringContaining(part) } },
    ]);
  });
});

describe('an error', () => {
  const failing = (thrown: unknown): AnyOperation =>
    defineOperation({
      name: 'fail',
      summary: 's',
      method: 'GET',
      path: '/fail',
      input: z.strictObject({}),
      output: z.unknown(),
      handler: () => {
        throw thrown;
      },
    });

  it.each([
    [new GantryError('server_unknown', 'which?'), 404, 'server_unknown', false],
    [new GantryError('stopped', 'bye'), 503, 'stopped', true],
    [new GantryError('timeout', 'late'), 504, 'timeout', true],
    [new GantryError('package_missing', 'install it'), 500, 'package_missing', false],
    [new Error('token=abc12345secret broke'), 500, 'execution_failed', false],
  ])('%s is answered with %d', async (thrown, status, code, isRetryable) => {
    const response = await appOf(makeOperationDeps(), [failing(thrown)]).request('/api/v1/fail');
    const body = (await response.json()) as { error: { message: string } };
    expect([response.status, body]).toMatchObject([status, { error: { code, isRetryable } }]);
    expect(body.error.message).not.toContain('abc12345secret');
  });

  it('that nobody expected is logged with its cause', async () => {
    const logged: unknown[] = [];
    const log: Log = { ...silentLog, error: (facts) => void logged.push(facts) };
    const thrown = new Error('broken');
    await appOf(makeOperationDeps([], { log }), [failing(thrown)]).request('/api/v1/fail');
    expect(logged).toEqual([{ operation: 'fail', err: thrown }]);
  });
});

describe('the client of an operation', () => {
  const fetch = async (url: string, init: RequestInit): Promise<Response> => app.request(url, init);

  it('says input as path, query and body, and gives the output', async () => {
    expect(await callOperation('http://gantry/', toolsList, { all: true, source: undefined }, { fetch })).toMatchObject(
      {
        tools: [{}, {}],
      },
    );
    expect(
      await callOperation('http://gantry', toolsCall, { name: 'echo', arguments: { text: 'ü' } }, { fetch }),
    ).toMatchObject({ content: 'ü' });
  });

  it('keeps names with special characters whole', async () => {
    await expect(callOperation('http://gantry', serversShow, { name: 'a/b ?#%' }, { fetch })).rejects.toMatchObject({
      code: 'server_unknown',
      message: expect.stringContaining('"a/b ?#%"'),
    });
  });

  it('sends the token', async () => {
    let header: string | null = null;
    const spy = async (_url: string, init: RequestInit): Promise<Response> => {
      header = new Headers(init.headers).get('authorization');
      return Response.json({ tools: [] });
    };
    await callOperation('http://gantry', toolsList, {}, { token: 't0ken', fetch: spy });
    expect(header).toBe('Bearer t0ken');
  });

  const answering = (status: number, body: string) => async (): Promise<Response> => new Response(body, { status });

  it.each([
    [answering(401, '{"error":{"code":"auth_required","message":"x"}}'), 'auth_required', 'GANTRY_TOKEN'],
    [answering(404, '{"error":{"code":"tool_not_found","message":"no tool"}}'), 'tool_not_found', 'no tool'],
    [answering(404, '<html>'), 'execution_failed', 'no Gantry gateway'],
    [answering(200, '<html>'), 'execution_failed', 'no Gantry gateway'],
    [
      async (): Promise<Response> => {
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) });
      },
      'execution_failed',
      'No gateway answers at http://gantry (ECONNREFUSED)',
    ],
    [
      async (): Promise<Response> => {
        throw new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'UND_ERR_SOCKET' }) });
      },
      'execution_failed',
      'The gateway at http://gantry ended the connection before it answered "tools.list"',
    ],
    [
      async (): Promise<Response> => {
        const pull = (): never => {
          throw new TypeError('terminated', { cause: new Error('Invalid EOF state') });
        };
        return new Response(new ReadableStream({ pull }));
      },
      'execution_failed',
      'The gateway at http://gantry ended the connection before it answered "tools.list"',
    ],
  ])('turns what goes wrong into an error with a way out (%#)', async (fetch, code, part) => {
    await expect(callOperation('http://gantry', toolsList, {}, { fetch })).rejects.toMatchObject({
      code,
      message: expect.stringContaining(part),
    });
  });

  it('says that it was cancelled when its signal aborts', async () => {
    const fetch = async (): Promise<Response> => {
      throw new Error('aborted');
    };
    await expect(
      callOperation('http://gantry', toolsList, {}, { fetch, signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({ code: 'cancelled' });
  });
});
