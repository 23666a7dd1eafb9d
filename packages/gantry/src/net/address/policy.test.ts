import { expect, it } from 'vitest';
import { opensPrivateNetworks, readNetPolicy } from './policy.ts';

it.each([
  [{}, false],
  [{ RUN_ENV: '' }, false],
  [{ RUN_ENV: 'production' }, false],
  [{ RUN_ENV: ' Production ' }, false],
  [{ RUN_ENV: 'development' }, true],
  [{ FETCH_URL_ALLOW_PRIVATE_NETWORK: 'true' }, true],
  [{ FETCH_URL_ALLOW_PRIVATE_NETWORK: ' YES ' }, true],
  [{ FETCH_URL_ALLOW_PRIVATE_NETWORK: 'on' }, true],
  [{ FETCH_URL_ALLOW_PRIVATE_NETWORK: '1' }, true],
  [{ FETCH_URL_ALLOW_PRIVATE_NETWORK: 'false' }, false],
  [{ FETCH_URL_ALLOW_PRIVATE_NETWORK: 'sure' }, false],
])('reads %j as private networks open: %s', (env, open) => expect(opensPrivateNetworks(readNetPolicy(env))).toBe(open));

it('stays closed when strict, whatever else is said', () => {
  expect(opensPrivateNetworks({ production: false, allowPrivateNetwork: true, strict: true })).toBe(false);
});
