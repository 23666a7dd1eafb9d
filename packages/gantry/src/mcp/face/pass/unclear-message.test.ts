import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { isObject } from '../../../kernel/json.ts';
import { unclearIn } from './unclear-message.ts';

const judge = (text: string): string | undefined => {
  const value: unknown = JSON.parse(text);
  return unclearIn(text, isObject(value) ? value : undefined);
};

it('lets every message pass that has each member once, in any spelling', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(undefined, 1, '\t'), (value, space) => {
      expect(judge(JSON.stringify(value, undefined, space))).toBeUndefined();
    }),
  );
});

it.each([
  '{"a":"b:","c\\\\":1,"d\\"":{"a":[{"a":1},{"a":2}]}}',
  '{"__proto__":1,"x":{"__proto__":{"y":2}}}',
  String.raw`{"a":"\"", "b" : "\\"}`,
  '{}',
])('lets %s pass', (text) => {
  expect(judge(text)).toBeUndefined();
});

it.each([
  '{"method":"ping","method":"tools/call"}',
  '{"params":{"name":"a","name":"b"}}',
  '{"params":{"arguments":{"x":{"url":"a" , "url" :"b"}}}}',
  String.raw`{"name":"a","\u006eame":"b"}`,
])('refuses %s, which each reader reads in its own way', (text) => {
  expect(judge(text)).toContain('written twice');
});

it.each(['[]', '[{"a":1}]', '"x"', '5', 'null'])('refuses %s, which is not one message', (text) => {
  expect(judge(text)).toContain('one JSON-RPC message');
});

it.each(['{"Method":"tools/call"}', '{"method":"a","PARAM\u017F":{}}', '{"ID":1}'])(
  'refuses %s, of which some readers ignore the case',
  (text) => {
    expect(judge(text)).toContain('case counts');
  },
);

it.each(['{"method":["tools/call"]}', '{"method":null}'])('refuses %s, whose method is no text', (text) => {
  expect(judge(text)).toContain('must be a text');
});

it.each(['Tools/Call', 'tools/CALL', 'prompts/Get', 'tasks/li\u017Ft', 'Initialize'])(
  'refuses the method %s, which some readers take for one that is judged',
  (method) => {
    expect(judge(JSON.stringify({ method }))).toContain('case counts');
  },
);

it.each(['tools/call', 'logging/setLevel', 'acme/Tools', 'ping'])('lets the method %s pass', (method) => {
  expect(judge(JSON.stringify({ method }))).toBeUndefined();
});
