import { describe, expect, it } from 'vitest';
import { isCredentialName } from './credential-name.ts';

describe('isCredentialName', () => {
  it.each([
    'Authorization',
    'api_key',
    'apiKey',
    'X-API-Key',
    'clientSecret',
    'client_secret',
    'AWS_SECRET_ACCESS_KEY',
    'password',
    'db_password',
    'refreshToken',
    'token',
    'Set-Cookie',
    'privateKey',
    'credentials',
  ])('knows %s as a credential', (name) => {
    expect(isCredentialName(name)).toBe(true);
  });

  it.each([
    'max_tokens',
    'tokens',
    'token_count',
    'nextPageToken',
    'progressToken',
    'token_endpoint',
    'key',
    'author',
    'path',
    'secretary',
  ])('leaves %s alone', (name) => {
    expect(isCredentialName(name)).toBe(false);
  });
});
