import { expect, it } from 'vitest';
import { mcpOrientation } from './orientation.ts';

it.each(['off', 'eager', 'lazy', 'pinned'] as const)(
  'stays under 2,000 characters in mode %s and points to the guide',
  (mode) => {
    const text = mcpOrientation(mode);
    expect(text.length).toBeLessThan(2_000);
    expect(text).toContain('get_tool_guide');
    expect(mcpOrientation(mode)).toBe(text);
  },
);

it.each([
  {
    mode: 'off',
    has: ['mcp_list_services', 'mcp_get_service_details', 'mcp_invoke_tool'],
    lacks: ['wiki__search', 'mcp_find_tools', '-prompt'],
  },
  { mode: 'eager', has: ['wiki__search', 'mcp_invoke_tool'], lacks: ['mcp_find_tools', '-prompt'] },
  {
    mode: 'lazy',
    has: ['wiki__search', 'mcp_find_tools', '-prompt', 'mcp_invoke_tool'],
    lacks: ['all its tools stay'],
  },
  { mode: 'pinned', has: ['wiki__search', 'mcp_find_tools', '-prompt', 'all its tools stay'], lacks: [] },
] as const)('tells a run in mode $mode its own way to work', ({ mode, has, lacks }) => {
  const text = mcpOrientation(mode);
  for (const word of has) expect(text).toContain(word);
  for (const word of lacks) expect(text).not.toContain(word);
});
