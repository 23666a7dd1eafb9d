import { describe, expect, it } from 'vitest';
import { expandHeaders, isToolAllowed, isValidServerName, transportModeOf } from './server-entry.ts';

describe('headers of an entry', () => {
  it.each([
    ['Bearer ${TOKEN}', 'Bearer t'],
    ['${TOKEN}-${ TOKEN }', 't-t'],
    ['${MISSING}', undefined],
    ['Bearer ${MISSING}', undefined],
    ['  ', undefined],
    ['$TOKEN', '$TOKEN'],
  ])('%j is sent as %j', (value, sent) => {
    expect(expandHeaders({ headers: { Authorization: value } }, { TOKEN: 't' })['Authorization']).toBe(sent);
  });
});

it.each([
  [undefined, 'auto'],
  ['SSE', 'sse'],
  ['streamable', 'streamable-http'],
  ['http', 'streamable-http'],
  ['carrier-pigeon', 'auto'],
])('transport mode %j reads as %s', (transportMode, mode) => {
  expect(transportModeOf({ transportMode })).toBe(mode);
});

it.each([
  ['a', true],
  ['A.b_c-1', true],
  ['a'.repeat(64), true],
  ['a'.repeat(65), false],
  ['a__b', false],
  ['_a', false],
  ['a b', false],
  ['', false],
])('name %j is acceptable for a new server: %s', (name, isValid) => {
  expect(isValidServerName(name)).toBe(isValid);
});

it.each([
  [{ allowedTools: ['a'], deniedTools: ['a'] }, 'A', true],
  [{ allowedTools: ['a'] }, 'b', false],
  [{ allowedTools: [], deniedTools: ['B'] }, 'b', false],
  [{}, 'b', true],
])('the filters %j let %s through: %s', (entry, tool, isAllowed) => {
  expect(isToolAllowed(entry, tool)).toBe(isAllowed);
});
