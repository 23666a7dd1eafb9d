import { expect, it } from 'vitest';
import { headerConflict } from './header-conflict.ts';

const target = {
  hasGuards: true,
  parameterHeaders: (tool: string): Record<string, string> => (tool === 'a' ? { 'mcp-param-city': 'Oslo' } : {}),
};
const call = { method: 'tools/call', params: { name: 'a', arguments: { city: 'Oslo', nested: { count: 5 } } } };

it.each([
  [{}],
  [{ 'mcp-method': 'tools/call', 'mcp-name': 'a', 'mcp-param-city': 'Oslo' }],
  [{ 'mcp-name': '=?base64?YQ==?=', 'mcp-param-city': '=?base64?T3Nsbw==?=' }],
  [{ 'mcp-param-count': '5' }],
])('finds that %j says the same as the body', (headers) => {
  expect(headerConflict(headers, call, target)).toBeUndefined();
});

it.each([
  [{ 'mcp-method': 'tools/list' }, 'Mcp-Method'],
  [{ 'mcp-name': 'echo' }, 'Mcp-Name'],
  [{ 'mcp-name': 'a, echo' }, 'Mcp-Name'],
  [{ 'mcp-name': '=?base64?*?=' }, 'Mcp-Name'],
  [{ 'mcp-param-city': 'Rome' }, 'mcp-param-city'],
  [{ 'mcp-param-city': '5' }, 'mcp-param-city'],
  [{ 'mcp-param-count': '6' }, 'mcp-param-count'],
])('finds that %j contradicts the body', (headers, name) => {
  expect(headerConflict(headers, call, target)).toContain(name);
});

it.each([
  [{ method: 'tasks/get', params: { taskId: 't' } }, 't', undefined],
  [{ method: 'tasks/get', params: { taskId: 't' } }, 'u', 'taskId'],
  [{ method: 'resources/read', params: { uri: 'docs://a' } }, 'docs://b', 'uri'],
  [{ method: 'tools/list' }, 'anything', undefined],
])('compares the name with what the method is about: %j and %s', (message, said, key) => {
  const conflict = headerConflict({ 'mcp-name': said }, message, target);
  if (key === undefined) expect(conflict).toBeUndefined();
  else expect(conflict).toContain(key);
});

it('leaves headers for arguments to the server where no guard judges arguments', () => {
  expect(headerConflict({ 'mcp-param-city': 'Rome' }, call, { ...target, hasGuards: false })).toBeUndefined();
});
