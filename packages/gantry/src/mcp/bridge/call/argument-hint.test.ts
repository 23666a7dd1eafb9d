import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/json.ts';
import { argumentHint } from './argument-hint.ts';

const tool = {
  name: 'book',
  inputSchema: {
    type: 'object',
    properties: {
      city: { type: 'string' },
      seats: { type: ['integer', 'null'] },
      any: { anyOf: [{ type: 'string' }] },
    },
    required: ['city'],
  },
};
const hint = (args: JsonObject, text = 'It went wrong.'): string | undefined => argumentHint(tool, args, text);

describe('the hint on a tool error', () => {
  it('lists what is missing, unknown and sent, and the schema', () => {
    expect(hint({ town: 'x' })).toBe(
      `Missing required arguments: "city". Unrecognised arguments: "town". Sent: "town". The tool's input schema: ${JSON.stringify(tool.inputSchema)}`,
    );
  });

  it('says which type was declared and which came', () => {
    expect(hint({ city: 5 })).toBe('"city" is declared as string but you sent an integer.');
    expect(hint({ city: 'x', seats: '2' })).toBe('"seats" is declared as integer or null but you sent a string.');
  });

  it.each<[string, JsonObject, string?]>([
    ['arguments fit', { city: 'x', seats: 2 }],
    ['a null is present', { city: null }],
    ['the type is not declared plainly', { city: 'x', any: 5 }],
    ['the server has named the missing argument', {}, 'city is required'],
  ])('is absent when %s', (_what, args, text) => {
    expect(hint(args, text)).toBeUndefined();
  });

  it('is given all the same when the server named another argument', () => {
    expect(hint({}, 'country is required')).toContain('Missing required arguments: "city"');
  });

  it.each(['MCP error -32602: bad', 'Invalid arguments for tool book', '1 validation error for book'])(
    'is the schema when the server refused the arguments: %s',
    (text) => {
      expect(hint({ city: 'x' }, text)).toMatch(/^The tool's input schema: /);
    },
  );

  it('is hedged when the server gives no reason at all', () => {
    expect(hint({ city: 'x' }, "An error occurred invoking 'book'.")).toMatch(/^The server gives no reason\. If /);
  });

  it('says nothing of unknown arguments when the schema names no properties', () => {
    expect(argumentHint({ name: 't', inputSchema: { type: 'object' } }, { a: 1 }, 'no')).toBeUndefined();
  });
});
