import { expect, it } from 'vitest';
import { createAddressCheck, isLoopback } from './trusted-address.ts';

it.each([
  { host: 'localhost', loopback: true },
  { host: '127.0.0.1', loopback: true },
  { host: '127.1.2.3', loopback: true },
  { host: '::1', loopback: true },
  { host: '0.0.0.0', loopback: false },
  { host: '::', loopback: false },
  { host: '127.0.0.1.example', loopback: false },
  { host: 'localhost.', loopback: false },
])('finds $host loopback: $loopback', ({ host, loopback }) => {
  expect(isLoopback(host)).toBe(loopback);
});

it.each([
  { bound: '192.0.2.7', host: '192.0.2.7:7420', passes: true },
  { bound: '2001:db8::1', host: '[2001:db8::1]:7420', passes: true },
  { bound: 'gw.example', host: 'GW.example', passes: true },
  { bound: '0.0.0.0', host: '0.0.0.0', passes: false },
  { bound: '0.0.0.0', host: 'gw.example', passes: false },
  { bound: '127.0.0.1', host: undefined, passes: false },
  { bound: '127.0.0.1', host: '', passes: false },
  { bound: '127.0.0.1', host: 'localhost@evil.example', passes: false },
  { bound: '127.0.0.1', host: 'evil.example#localhost', passes: false },
])('bound to $bound, answers to $host: $passes', ({ bound, host, passes }) => {
  expect(createAddressCheck({ host: bound }).refusal(host, undefined) === undefined).toBe(passes);
});

it('answers to the address that clients know, and to its pages', () => {
  const check = createAddressCheck({ host: '127.0.0.1', publicUrl: 'https://gw.example:8443/gantry/' });
  expect(check.refusal('gw.example:8443', 'https://gw.example:8443')).toBeUndefined();
  expect(check.refusal('gw.example', undefined)).toBeUndefined();
  expect(check.refusal('evil.example', undefined)).toBeDefined();
  expect(check.refusal('gw.example', 'https://evil.example')).toBeDefined();
});

it('names what to configure', () => {
  const check = createAddressCheck({ host: '127.0.0.1' });
  expect(check.refusal('a.example', undefined)).toContain('serve.allowedHosts');
  expect(check.refusal('localhost', 'https://a.example')).toContain('serve.allowedOrigins');
});

it('takes no origin for the absence of one, whatever was asked before', () => {
  const check = createAddressCheck({ host: '127.0.0.1' });
  expect(check.refusal('localhost', undefined)).toBeUndefined();
  for (const origin of ['undefined', '']) expect(check.refusal('localhost', origin)).toContain('serve.allowedOrigins');
});
