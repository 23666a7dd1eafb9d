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
