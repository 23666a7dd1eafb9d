import { expect, it } from 'vitest';
import { matchesGlob } from './match-glob.ts';

it.each([
  ['calendar-mcp.*', 'calendar-mcp.list_events', true],
  ['Calendar-MCP.LIST_*', 'calendar-mcp.list_events', true],
  ['*.list_*', 'calendar-mcp.list_events', true],
  ['*', '', true],
  ['calendar.*', 'calendar-mcp.list_events', false],
  ['calendar-mcp.list', 'calendar-mcp.list_events', false],
  ['a*a', 'a', false],
  ['a*b*b', 'ab', false],
  ['a.*', 'ab', false],
  ['*events*list', 'calendar.list_events', false],
])('%s for %s: %s', (pattern, text, matches) => {
  expect(matchesGlob(pattern, text)).toBe(matches);
});

// With a search that goes back it would not end in the life of this machine.
it('ends for a pattern that is made to take long', () => {
  expect(matchesGlob(`${'a*'.repeat(99)}b`, 'a'.repeat(10_000))).toBe(false);
});
