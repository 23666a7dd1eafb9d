import { expect, it } from 'vitest';
import { insufficientScopeOf, unionOfScopes } from './scopes.ts';

it('puts scopes together, each once', () => {
  expect(unionOfScopes('a b', undefined, 'b  c', '')).toBe('a b c');
  expect(unionOfScopes(undefined, '')).toBeUndefined();
});

const answer = (status: number, challenge: string): Response =>
  new Response(null, { status, headers: { 'www-authenticate': challenge } });

it.each([
  [403, 'Bearer error="insufficient_scope", scope="files:write mail", resource_metadata="x"', 'files:write mail'],
  [403, 'bearer realm="x", error=insufficient_scope', ''],
  [403, 'Bearer error="invalid_token", scope="a"', undefined],
  [401, 'Bearer error="insufficient_scope", scope="a"', undefined],
])('reads the scope of a refusal with status %i and %s', (status, challenge, scope) => {
  expect(insufficientScopeOf(answer(status, challenge))).toBe(scope);
});

it('takes a refusal without a challenge for what it is', () => {
  expect(insufficientScopeOf(new Response(null, { status: 403 }))).toBeUndefined();
});
