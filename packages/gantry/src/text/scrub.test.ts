import { describe, expect, it } from 'vitest';
import { scrubText, scrubValue } from './scrub.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789ABCDEF';

describe('scrubText', () => {
  it.each([
    ['a bearer token', `sent Bearer ${letters} to x`, 'sent Bearer *** to x'],
    ['an authorization header', 'Authorization: Basic dXNlcjpwYXNz\nHost: a', 'Authorization: ***\nHost: a'],
    ['a password in a URL', 'postgres://joe:p@ss:w0rd@db.example/x', 'postgres://joe:***@db.example/x'],
    ['an assignment', 'password=hunter2&x=1', 'password=***&x=1'],
    ['a JSON member', '{"api_key": "abc def", "q": "x"}', '{"api_key": "***", "q": "x"}'],
    ['an environment variable', 'export OPENAI_API_KEY=abc', 'export OPENAI_API_KEY=***'],
    ['a named value', 'token: 12345678', 'token: ***'],
    ['a provider key', `key sk-proj-${letters}`, 'key ***'],
    ['a payment key', `sk_live_${letters}`, '***'],
    ['a code host token', `ghp_${letters} and github_pat_${letters}`, '*** and ***'],
    ['a chat token', 'xoxb-1234567890-abcdef', '***'],
    ['a cloud key id', 'AKIAIOSFODNN7EXAMPLE', '***'],
    ['a JWT', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl', '***'],
    ['a PEM block', '-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nafter', '***\nafter'],
    ['a PEM block that breaks off', 'x -----BEGIN PRIVATE KEY-----\nMIIE', 'x ***'],
  ])('masks %s', (_, text, scrubbed) => {
    expect(scrubText(text)).toBe(scrubbed);
  });

  it.each([
    'Basic understanding of bearer certificates.',
    'Invalid token: expected a comma',
    'max_tokens=500, tokens: 12345678',
    'see https://host.example:8080/a@b and mail joe@host.example',
    'task-management-and-planning-for-everyone',
    'ssh://git@host.example/repo',
  ])('keeps %s', (text) => {
    expect(scrubText(text)).toBe(text);
  });

  it.each(['eyJ', 'sk-', 'password', 'a:', 'Bearer ', 'http://a', '-----BEGIN A-----', 'token="'])(
    'stays linear on a megabyte of %s',
    (piece) => {
      expect(scrubText(piece.repeat(1_000_000 / piece.length)).length).toBeLessThanOrEqual(1_100_000);
    },
  );
});

describe('scrubValue', () => {
  it('masks the members of credential-named keys at any depth', () => {
    const value = {
      url: 'x',
      headers: { Authorization: ['Bearer x'], Accept: 'y' },
      list: [{ password: 1 }, { password: null }],
    };
    expect(scrubValue(value)).toEqual({
      url: 'x',
      headers: { Authorization: '***', Accept: 'y' },
      list: [{ password: '***' }, { password: null }],
    });
  });

  it('scrubs texts inside, and gives the same object when there is nothing to hide', () => {
    expect(scrubValue([`sk-${letters}`])).toEqual(['***']);
    const clean = { a: ['x', { b: 1 }], secret: false };
    expect(scrubValue(clean)).toBe(clean);
  });

  it('ends on a value that contains itself', () => {
    const loop: Record<string, unknown> = { name: 'x' };
    loop['self'] = loop;
    expect(JSON.stringify(scrubValue(loop))).toContain('***');
  });
});
