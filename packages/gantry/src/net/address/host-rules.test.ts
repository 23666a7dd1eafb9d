import { expect, it } from 'vitest';
import { classifyHostName, withoutTrailingDots } from './host-rules.ts';

it.each([
  'localhost',
  'app.localhost',
  'localhost.localdomain',
  'printer.local',
  'db.internal',
  'nas.home.arpa',
  'ipv4only.arpa',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  'wiki.corp',
  'router.lan',
  'intranet',
  'ip6-loopback',
])('keeps %s off the public internet', (host) =>
  expect(classifyHostName(host)).toMatchObject({ public: false, metadata: false }),
);

it.each(['metadata', 'metadata.goog', 'metadata.google.internal', 'instance-data', 'instance-data.ec2.internal'])(
  'knows %s as metadata',
  (host) => expect(classifyHostName(host)?.metadata).toBe(true),
);

it.each([
  'example.com',
  'notlocalhost.com',
  'mylocal.io',
  'localhost.example.com',
  'a.svc.example.org',
  'internal.example',
])('asks DNS about %s', (host) => expect(classifyHostName(host)).toBeUndefined());

it('removes every trailing dot', () => {
  expect(withoutTrailingDots('localhost..')).toBe('localhost');
  expect(withoutTrailingDots('a.b')).toBe('a.b');
});
