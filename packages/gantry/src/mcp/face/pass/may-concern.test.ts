import { expect, it } from 'vitest';
import { mayConcern } from './may-concern.ts';

it.each([
  '{"method":"elicitation/create"}',
  String.raw`{"method":"elicitation\/create"}`,
  String.raw`{"method":"\u0065licitation/create"}`,
  String.raw`{"method":"e\u006Cicitation/create"}`,
  String.raw`{"method":"\x65licitation/create"}`,
  Buffer.from('{"method":"elicitation/create"}', 'utf16le').toString('utf8'),
])('sees that %j may be a question', (text) => {
  expect(mayConcern(text, { hasFilters: false, hidesPrompts: false })).toBe(true);
});

it.each(['{"tools":[]}', '{"TOOLS":[]}', '{"tool\u017F":[]}', String.raw`{"\u0074ools":[]}`])(
  'sees that %j may be a list of tools, where some are hidden',
  (text) => {
    expect(mayConcern(text, { hasFilters: true, hidesPrompts: false })).toBe(true);
  },
);

it.each(['{"prompts":[]}', '{"PROMPTS":[]}', '{"prompt\u017F":[]}', String.raw`{"\u0070rompts":[]}`])(
  'sees that %j may be a list of prompts, where some are hidden',
  (text) => {
    expect(mayConcern(text, { hasFilters: true, hidesPrompts: true })).toBe(true);
  },
);

it('leaves lists of prompts unread where only tools are hidden', () => {
  expect(mayConcern('{"prompts":[]}', { hasFilters: true, hidesPrompts: false })).toBe(false);
});

it.each([
  '{"tools":[]}',
  String.raw`{"text":"a \"word\"\n\\ http:\/\/a.example caf\u00e9 \u4f60"}`,
  '{"content":[{"type":"text","text":"hi"}]}',
])('leaves %j unread', (text) => {
  expect(mayConcern(text, { hasFilters: false, hidesPrompts: false })).toBe(false);
});
