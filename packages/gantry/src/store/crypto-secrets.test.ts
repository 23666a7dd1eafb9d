import { describe, expect, it } from 'vitest';
import { parseCryptoSecrets } from './crypto-secrets.ts';

describe('parseCryptoSecrets', () => {
  it.each([
    ['nothing', {}, undefined],
    ['an empty secret', { GANTRY_CRYPTO_SECRET: '' }, undefined],
    ['a single secret as version 1', { GANTRY_CRYPTO_SECRET: 'a' }, { 1: 'a', current: 1 }],
    [
      'the highest version as current',
      { GANTRY_CRYPTO_SECRET: 'a', GANTRY_CRYPTO_SECRET_V10: 'j', GANTRY_CRYPTO_SECRET_V9: 'i' },
      { 1: 'a', 9: 'i', 10: 'j', current: 10 },
    ],
    [
      'the chosen version as current',
      { GANTRY_CRYPTO_SECRET_V1: 'a', GANTRY_CRYPTO_SECRET_V2: 'b', GANTRY_CRYPTO_SECRET_CURRENT: '1' },
      { 1: 'a', 2: 'b', current: 1 },
    ],
    [
      'a version written as v2',
      { GANTRY_CRYPTO_SECRET_V2: 'b', GANTRY_CRYPTO_SECRET_CURRENT: 'v2' },
      { 2: 'b', current: 2 },
    ],
    [
      'only names that are meant',
      { GANTRY_CRYPTO_SECRET_V0: 'x', GANTRY_CRYPTO_SECRET_VX: 'y', OTHER: 'z' },
      undefined,
    ],
  ])('reads %s', (_, environment, expected) => {
    const secrets = parseCryptoSecrets(environment);
    expect(secrets && { ...Object.fromEntries(secrets.byVersion), current: secrets.currentVersion }).toEqual(expected);
  });

  it.each([
    { GANTRY_CRYPTO_SECRET: 'a', GANTRY_CRYPTO_SECRET_CURRENT: '2' },
    { GANTRY_CRYPTO_SECRET: 'a', GANTRY_CRYPTO_SECRET_CURRENT: 'latest' },
    { GANTRY_CRYPTO_SECRET_CURRENT: '1' },
    { GANTRY_CRYPTO_SECRET: 'a', GANTRY_CRYPTO_SECRET_V1: 'b' },
  ])('refuses %j without showing a secret', (environment) => {
    expect(() => parseCryptoSecrets(environment)).toThrow(expect.objectContaining({ code: 'config_invalid' }) as Error);
  });
});
