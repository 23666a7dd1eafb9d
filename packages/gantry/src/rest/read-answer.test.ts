import { expect, it } from 'vitest';
import { outcomeText } from '../tool/outcome-text.ts';
import { readAnswer } from './read-answer.ts';

const read = (
  body: string | Uint8Array<ArrayBuffer> | null,
  init: { status?: number; headers?: Record<string, string> } = {},
  secrets: string[] = [],
) => readAnswer(new Response(body, init), { name: 'demo', maxBytes: 100, secrets });
const typed = (type: string) => ({ headers: { 'content-type': type } });

it('gives JSON as a structured value and other text as text', async () => {
  expect(await read('{"a": [1]}', typed('application/json; charset=utf-8'))).toEqual({
    status: 'done',
    parts: [],
    structured: { a: [1] },
  });
  expect(await read('{"a": 1}', typed('application/problem+json'))).toMatchObject({ structured: { a: 1 } });
  expect(outcomeText(await read('{"a": 1', typed('application/json')))).toBe('{"a": 1');
  expect(outcomeText(await read('<a/>', typed('application/xml')))).toBe('<a/>');
  expect(outcomeText(await read(new Uint8Array([0xe9]), typed('text/plain; charset=iso-8859-1')))).toBe('é');
  expect(outcomeText(await read('x', typed('text/plain; charset=no-such')))).toBe('x');
  expect(outcomeText(await read(null, { status: 204 }))).toBe('HTTP 204; the answer is empty.');
});

it.each([
  [400, 'execution_failed', 'never'],
  [401, 'auth_required', 'never'],
  [404, 'execution_failed', 'never'],
  [429, 'execution_failed', 'later'],
  [500, 'execution_failed', 'never'],
  [503, 'execution_failed', 'later'],
])('fails for HTTP %i with the beginning of the body', async (status, code, retry) => {
  expect(await read('{"error":\n "no such thing"}', { status, ...typed('application/json') })).toMatchObject({
    status: 'failed',
    failure: {
      code,
      retry,
      message: expect.stringMatching(new RegExp(`"demo" was answered with HTTP ${status}: .*no such thing`)),
    },
  });
});

it('says where a redirect leads, without the path, and what cannot be shown', async () => {
  expect(
    outcomeText(await read(null, { status: 302, headers: { location: 'https://other.example/x?key=1' } })),
  ).toMatch(/redirect \(HTTP 302 to other\.example\)/);
  const image = await read(new Uint8Array(10), typed('image/png'));
  expect(image.status).toBe('failed');
  expect(outcomeText(image)).toMatch(/image\/png \(10 bytes\)/);
});

it('cuts a long answer and says so', async () => {
  const cut = outcomeText(await read('x'.repeat(101), typed('application/json')));
  expect(cut).toBe(`${'x'.repeat(100)}\n[The answer is longer than 100 bytes; this is its beginning.]`);
});

it('masks secrets that a service repeats, in results and in failures', async () => {
  const secrets = ['to"ken/1', 'abc'];
  const body = JSON.stringify({ said: 'to"ken/1', short: 'abc', inUrl: 'https://x/?k=to%22ken%2F1' });
  for (const status of [200, 400]) {
    const text = JSON.stringify(await read(body, { status, ...typed('application/json') }, secrets));
    expect(text).not.toMatch(/to\\*"ken|to%22ken/);
    expect(text).toContain('abc');
  }
});
