import { readFileSync } from 'node:fs';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseArguments } from './parse-arguments.ts';

const value = (raw: unknown): unknown => {
  const parsed = parseArguments(raw);
  return parsed.ok ? parsed.value : parsed.reason;
};

describe('parseArguments', () => {
  it('reads every way of writing no arguments in the field cases as an empty object', () => {
    const file = new URL('../../../../test/data/field-cases/e-arguments.json', import.meta.url);
    const { cases } = JSON.parse(readFileSync(file, 'utf8')) as { cases: { id: string; input: { rows: unknown[] } }[] };
    const rows = cases.find((one) => one.id === 'e-empty-argument-text')?.input.rows ?? [];
    expect(rows.map(value)).toEqual([{}, {}, {}, {}, {}, {}]);
    expect(value(undefined)).toEqual({});
  });

  it.each([
    ['JSON text', '{"a":1}'],
    ['JSON in JSON', JSON.stringify('{"a":1}')],
    ['JSON in JSON in JSON', JSON.stringify(JSON.stringify('{"a":1}'))],
    ['a fenced block', '```json\n{"a":1}\n```'],
    ['a fenced block without a language', ' ```\r\n{"a":1}```\n'],
  ])('reads %s', (_, raw) => {
    expect(value(raw)).toEqual({ a: 1 });
  });

  it('gives an object back as it is', () => {
    const args = { a: { b: [1] } };
    expect(value(args)).toBe(args);
  });

  it('never completes text that breaks off, and says what came and what is wanted', () => {
    const reason = value('{"path": "/a", "text": "hel');
    expect(reason).toContain('{"path": "/a", "text": "hel');
    expect(reason).toContain('cut');
    expect(reason).toContain('{"key": "value"}');
  });

  it.each([
    ['[1,2]', 'a list'],
    ['12', 'a number'],
    ['true', 'a boolean'],
    [[1], 'a list'],
    ['{"a": NaN}', 'not valid JSON'],
    ['{a: 1}', 'not valid JSON'],
    ['{"a":1} {"b":2}', 'not valid JSON'],
    [JSON.stringify(JSON.stringify(JSON.stringify('{}'))), 'a string'],
  ])('refuses %j', (raw, word) => {
    expect(parseArguments(raw).ok).toBe(false);
    expect(value(raw)).toContain(word);
  });

  it('shortens what it echoes', () => {
    expect((value(`{"a": "${'x'.repeat(5_000)}`) as string).length).toBeLessThan(600);
  });

  it.each([
    '{"__proto__":{"admin":true}}',
    '{"a":{"\\u005f_proto__":{"admin":true},"b":1}}',
    '{"c":[{"__proto__":1}]}',
    JSON.stringify('{"__proto__":1}'),
  ])('names the prototype key instead of dropping it or obeying it: %s', (raw) => {
    expect(parseArguments(raw).ok).toBe(false);
    expect(value(raw)).toContain('the key "__proto__", which is not supported');
  });

  it('takes keys that are named like members of every object', () => {
    const args = { constructor: 1, toString: 'x', hasOwnProperty: true };
    expect(value(JSON.stringify(args))).toEqual(args);
  });

  it('takes the last of duplicate keys', () => {
    expect(value('{"a":1,"a":2}')).toEqual({ a: 2 });
  });

  it('refuses a value that nests without end instead of overflowing later', () => {
    expect(value(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`)).toContain('200 levels');
  });

  it('refuses objects that nest without end or contain themselves', () => {
    const endless = JSON.parse(`{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`) as unknown;
    const own: { own?: unknown } = {};
    own.own = own;
    for (const raw of [endless, own]) expect(value(raw)).toContain('200 levels');
  });

  it('never throws', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json(), fc.anything()), (raw) => {
        expect(typeof parseArguments(raw).ok).toBe('boolean');
      }),
    );
  });
});
