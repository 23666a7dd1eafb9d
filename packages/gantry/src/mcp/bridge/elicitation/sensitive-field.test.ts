import { describe, expect, it } from 'vitest';
import type { FormField } from './form-field.ts';
import { isSensitive, isSensitiveText } from './sensitive-field.ts';

const named = (name: string, more: Partial<FormField> = {}): FormField => ({
  name,
  type: 'string',
  required: false,
  ...more,
});

it.each([
  'apiKey',
  'API_KEY',
  'APIkey',
  'myapikeyvalue',
  'x-api-key',
  'sshKeyPath',
  'privateKeyPem',
  'client.secret',
  'DBConnectionString',
  'cardNumber',
  'credit card',
  'one-time code',
  'onetimecode',
  'one‑time code',
  'securityCode',
  'accountNumber',
  'routing_number',
  'pincode',
  'userPIN',
  'PIN2',
  'authCode',
  'accessCode',
  'twoFactor',
  '2FA',
  '2fa_code',
  'my2faCode',
  'password',
  'newPassword2',
  'passwd',
  'passphrase',
  'secrets',
  'accessToken',
  'credentials',
  'ssn',
  'cvv',
  'CVC',
  'otp',
  'bearer',
  'auth',
  'pass\u200Bword',
  'ｐａｓｓｗｏｒｄ',
])('a field called %s is sensitive', (name) => {
  expect(isSensitive(named(name))).toBe(true);
});

it.each([
  'maxTokens',
  'max_tokens',
  'tokens',
  'slotPosition',
  'pinned',
  'spinner',
  'author',
  'authentication',
  'secretary',
  'keyboard',
  'accessibility',
  'mailbox',
  'line2Family',
  'discount',
])('a field called %s is not', (name) => {
  expect(isSensitive(named(name))).toBe(false);
});

describe('a field', () => {
  it('is sensitive by its title or description too, however late it is said', () => {
    expect(isSensitive(named('value', { title: 'Your password' }))).toBe(true);
    expect(isSensitive(named('value', { description: 'Paste the API key' }))).toBe(true);
    expect(isSensitive(named('value', { description: `${'word '.repeat(700)}and the PIN` }))).toBe(true);
  });

  it('with words that only look alike is not', () => {
    expect(isSensitiveText('The map in code of the author, pinned for tokens; line 2 (family)')).toBe(false);
  });

  it('is judged in linear time', () => {
    expect(isSensitiveText('aB'.repeat(500_000))).toBe(false);
  });
});
