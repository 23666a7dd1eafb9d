import { expect, it } from 'vitest';
import type { Json } from '../../../kernel/json.ts';
import { redactArguments } from './redact.ts';

it('masks the values of credential-named keys at any depth, whatever they are', () => {
  const args = {
    apiKey: 'hunter2',
    login: [{ Password: { value: 'x' }, pin: 1234 }],
    cardNumber: '4111',
    to: 'a@example.org',
  };
  expect(redactArguments(args)).toEqual({
    apiKey: '[redacted]',
    login: [{ Password: '[redacted]', pin: '[redacted]' }],
    cardNumber: '[redacted]',
    to: 'a@example.org',
  });
});

it('masks what looks like a secret in other values', () => {
  expect(
    redactArguments({ note: 'the password is hunter2', card: 4111111111111111, list: ['Bearer abcdefghijkl'] }),
  ).toEqual({
    note: 'the password is [redacted]',
    card: '[redacted]',
    list: ['Bearer [redacted]'],
  });
});

it('keeps flags, nulls, numbers and names that only speak about a secret', () => {
  const args = { token: null, secret: false, maxTokens: 500, share: 0.1234567890123456, author: 'Joe', count: -3 };
  expect(redactArguments({ ...args, absent: undefined })).toEqual(args);
});

it('changes nothing of what it is given, and masks what lies too deep to be looked at', () => {
  let deep: Json = 'hunter2';
  for (let level = 0; level < 10_000; level += 1) deep = { a: deep };
  const args = { deep, apiKey: 'hunter2' };
  expect(JSON.stringify(redactArguments(args))).toMatch(
    /^\{"deep":(\{"a":){63,64}"\[redacted\]"\}+,"apiKey":"\[redacted\]"\}$/,
  );
  expect(args.apiKey).toBe('hunter2');
});
