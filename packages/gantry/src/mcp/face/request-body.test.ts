import { describe, expect, it } from 'vitest';
import { readJsonBody } from './request-body.ts';

const read = (body: string, headers: Record<string, string> = {}) =>
  readJsonBody(
    new Request('http://gateway.example/mcp', {
      method: 'POST',
      body,
      headers: { 'content-type': 'application/json', ...headers },
    }),
    1_000_000,
  );
const refusalOf = async (body: string, headers?: Record<string, string>): Promise<[number, string] | undefined> => {
  const body_ = await read(body, headers);
  if (body_.ok) return undefined;
  const { error } = (await body_.refusal.json()) as { error: { message: string } };
  return [body_.refusal.status, error.message];
};

describe('the body of a request', () => {
  it.each([
    ['application/json; charset=utf-7'],
    ['application/json;charset="UTF-16LE"'],
    ['application/json; charset=utf-8; charset=utf-7'],
    ['application/json; a="b;charset=utf-8"; charset=utf-16'],
    ["application/json; charset*=utf-7''x"],
    ['application/json; charset'],
  ])('is refused as %s, and told what is allowed', async (type) => {
    const [status, message] = (await refusalOf('{}', { 'content-type': type })) ?? [];
    expect([status, message]).toEqual([415, expect.stringContaining('charset=utf-8')]);
  });

  it.each([['application/json'], ['application/json;charset=UTF-8'], ['Application/JSON; charset="utf-8"; v=1']])(
    'is read as %s',
    async (type) => expect(await refusalOf('{}', { 'content-type': type })).toBeUndefined(),
  );

  it.each([['gzip'], ['br'], ['identity, gzip'], ['']])(
    'is refused with the encoding "%s", which only some readers undo',
    async (encoding) =>
      expect(await refusalOf('{}', { 'content-encoding': encoding })).toMatchObject([
        415,
        expect.stringContaining('without Content-Encoding'),
      ]),
  );

  it('is read with the encoding that changes nothing', async () =>
    expect(await refusalOf('{}', { 'content-encoding': 'Identity' })).toBeUndefined());

  it('is refused when it nests deeper than 1,000 levels, whatever its texts hold', async () => {
    const nested = (levels: number): string => `${'['.repeat(levels)}"]\\"]]"${']'.repeat(levels)}`;
    expect(await refusalOf(nested(1_000))).toBeUndefined();
    expect(await refusalOf(nested(1_001))).toEqual([400, expect.stringContaining('1000 levels')]);
    expect(await refusalOf(`${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`)).toEqual([400, expect.any(String)]);
    expect(await refusalOf(JSON.stringify(`\\${'['.repeat(5_000)}`))).toBeUndefined();
  });

  it.each([['{"arguments":{"size":1e400}}'], ['{"size":[-1E999]}'], [`{"size":${'9'.repeat(400)}}`]])(
    'is refused when a number in it would be read as endless: %s',
    async (body) => expect(await refusalOf(body)).toEqual([400, expect.stringContaining('The number at "size"')]),
  );

  it('is read with the largest numbers there are, and with texts that look like larger ones', async () =>
    expect(await refusalOf('{"size":1.7e308,"text":"1e400","small":1e-999}')).toBeUndefined());
});
