import { expect, it } from 'vitest';
import type { CallerKind } from '../tool/context.ts';
import { toRegistration } from '../tool/registration.ts';
import { exposureOf } from './exposure.ts';

const isOffered = (expose: string[], caller: CallerKind, source: string, name = 'some_tool'): boolean =>
  exposureOf(expose)(toRegistration({ name, description: 'd', source }), { caller });

it.each([
  ['mcp:wiki', 'wiki__search', true],
  ['mcp:management', 'mcp_list_services', true],
  ['mcp:management', 'mcp_register_server', false],
  ['mcp:management', 'mcp_unregister_server', false],
  ['mcp:wiki', 'wiki__mcp_register_server', true],
  ['web', 'web_search', true],
  ['guides', 'get_tool_guide', true],
  ['memory', 'get_from_working_memory', true],
  ['memory', 'save_to_working_memory', false],
  ['schedule', 'schedule_task', false],
  ['scripts', 'execute_python_script', false],
  ['mcpish', 'x', false],
])('offers a client of the gateway %s/%s: %s', (source, name, expected) => {
  expect(isOffered([], 'client', source, name)).toBe(expected);
});

it.each([[['schedule']], [['some_tool']], [['*']]])('offers what the configuration adds with %j', (expose) => {
  expect(isOffered(expose, 'client', 'schedule')).toBe(true);
});

it.each(['model', 'operator', 'passthrough'] as const)('offers everything to a caller of kind %s', (caller) => {
  expect(isOffered([], caller, 'schedule')).toBe(true);
});

it.each([[['mcp_register_server']], [['mcp:management']], [['*']]])(
  'lets a client register servers where the configuration names that: %j',
  (expose) => {
    expect(isOffered(expose, 'client', 'mcp:management', 'mcp_register_server')).toBe(true);
  },
);
