import { expect, it } from 'vitest';
import { categoryOf, failureOf } from './wisp-failure.ts';

it.each([
  ['Missing required parameter "path"', 'Structural'],
  ['Tool foo is not registered', 'Structural'],
  ['Unknown tool: foo', 'Structural'],
  ['Invalid arguments for tool', 'Structural'],
  ['The request timed out', 'External'],
  ['Service unavailable', 'External'],
  ['Rate limit exceeded', 'External'],
  ['HTTP 429', 'External'],
  ['Got 503 from upstream', 'External'],
  ['Unexpected format of the page', 'Data'],
  ['Empty result', 'Data'],
  ['Could not parse the answer', 'Data'],
  ['The disk is full', 'External'],
] as const)('"%s" is %s', (text, category) => {
  expect(categoryOf(text)).toBe(category);
});

it.each([
  ['tool_not_found', 'Structural'],
  ['invalid_arguments', 'Structural'],
  ['timeout', 'External'],
  ['auth_required', 'External'],
] as const)('the code %s says %s whatever the text', (code, category) => {
  const failure = { code, message: 'could not parse', retry: 'never' } as const;
  expect(failureOf({ status: 'failed', failure }).category).toBe(category);
});

it('a call that goes on by itself is no result', () => {
  const handle = { kind: 'task', id: 't1', expiresAt: '2026-01-01T00:00:00Z' } as const;
  expect(failureOf({ status: 'parked', handle, parts: [{ type: 'text', text: 'started' }] })).toMatchObject({
    category: 'External',
    message: expect.stringContaining('started') as string,
  });
});
