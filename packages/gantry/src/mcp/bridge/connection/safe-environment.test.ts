import { expect, it } from 'vitest';
import { safeEnvironment } from './safe-environment.ts';

it('hands on what programs need and the entry names, and no other variable of the host', () => {
  const host = { PATH: '/bin', HOME: '/home/a', LANG: 'C', HOST_SECRET: 's3cret', SHELL: '() { evil; }' };
  expect(safeEnvironment(host, { API_KEY: 'k', HOME: '/other' })).toEqual({
    PATH: '/bin',
    HOME: '/other',
    LANG: 'C',
    API_KEY: 'k',
  });
});

it('tells programs which certificates the host trusts', () => {
  const trusted = { NODE_EXTRA_CA_CERTS: '/ca.pem', SSL_CERT_FILE: '/all.pem', SSL_CERT_DIR: '/certs' };
  // A proxy's address may hold a password.
  expect(safeEnvironment({ ...trusted, HTTPS_PROXY: 'http://u:p@proxy' }, undefined)).toEqual(trusted);
  expect(safeEnvironment(trusted, { SSL_CERT_FILE: '/own.pem' })).toEqual({ ...trusted, SSL_CERT_FILE: '/own.pem' });
});
