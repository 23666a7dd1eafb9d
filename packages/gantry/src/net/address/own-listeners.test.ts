import { expect, it } from 'vitest';
import { createOwnListeners } from './own-listeners.ts';

it('knows an own port on every address of this machine, in every form', () => {
  const listeners = createOwnListeners({ localAddresses: () => ['192.168.7.7', '2001:db8::7'] });
  listeners.add(8080);
  for (const address of [
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:c0a8:707',
    '192.168.7.7',
    '2001:DB8:0::7',
  ])
    expect(listeners.isOwnListener(address, 8080), address).toBe(true);
  expect(listeners.isOwnListener('192.168.7.8', 8080)).toBe(false);
  expect(listeners.isOwnListener('127.0.0.1', 8081)).toBe(false);
});

it('forgets a port when its last listener is gone', () => {
  const { add, isOwnListener } = createOwnListeners({ localAddresses: () => [] });
  const first = add(80);
  const second = add(80);
  first[Symbol.dispose]();
  first[Symbol.dispose]();
  expect(isOwnListener('::1', 80)).toBe(true);
  second[Symbol.dispose]();
  expect(isOwnListener('::1', 80)).toBe(false);
});
