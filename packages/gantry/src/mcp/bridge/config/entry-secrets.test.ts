import { describe, expect, it } from 'vitest';
import type { Log } from '../../../kernel/log.ts';
import { maskSecretsOf, withSecretsMasked } from './entry-secrets.ts';

const entry = {
  url: 'https://someuser:pass%20word@a.example/mcp?key=query-secret-1&n=1',
  headers: { Authorization: 'Bearer ${TOKEN}', 'X-Short': 'abc' },
  env: { API_KEY: 'key "of" env' },
  oauth: { clientSecret: '${CLIENT}' },
};
const env = { TOKEN: 'token-of-env', CLIENT: 'client-secret' };
const mask = maskSecretsOf(entry, env, () => ['access-token']);

describe('the mask of an entry', () => {
  it.each([
    ['a header', 'no: Bearer token-of-env!', 'no: ***!'],
    ['the token of a header alone', 'no: token-of-env!', 'no: ***!'],
    ['a value of the environment', 'no: key "of" env', 'no: ***'],
    ['the same in JSON', '{"x":"key \\"of\\" env"}', '{"x":"***"}'],
    ['user, password and query', 'someuser pass word pass%20word query-secret-1', '*** *** *** ***'],
    ['the secret of the client and a token in use', 'client-secret access-token', '*** ***'],
    ['nothing short', 'abc 1', 'abc 1'],
  ])('covers %s', (_what, text, masked) => {
    expect(mask(text)).toBe(masked);
  });

  it('covers lines of the log, with their facts and errors', () => {
    const lines: unknown[] = [];
    const line = (facts: object, message: string): void => void lines.push(facts, message);
    const log: Log = { debug: line, info: line, warn: line, error: line };
    const err = Object.assign(new Error('bad token-of-env', { cause: new TypeError('token-of-env') }), { code: 'X' });
    withSecretsMasked(log, mask).warn({ err, n: 1, list: ['token-of-env'] }, 'token-of-env');
    expect(lines).toMatchObject([
      { err: { message: 'bad ***', code: 'X', cause: { message: '***', name: 'TypeError' } }, n: 1, list: ['***'] },
      '***',
    ]);
    expect((lines[0] as { err: Error }).err.stack).not.toContain('token-of-env');
  });
});
