import { expect, it } from 'vitest';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { Lookup } from './resolve-pinned.ts';
import { createResolver } from './resolve-pinned.ts';

const open = (lookup: Lookup, clock = fakeClock()) =>
  createResolver({ lookup, clock, timeoutMs: 5_000, pinMs: 30_000 });
const dnsFailure = (message: RegExp) =>
  expect.objectContaining({
    code: 'address_refused',
    message: expect.stringMatching(message),
    details: expect.objectContaining({ reason: 'DNS_RESOLUTION_FAILED' }),
  });

it('asks once and keeps the answer, so later answers change nothing for a while', async () => {
  const answers = [['93.184.215.14'], ['127.0.0.1']];
  const clock = fakeClock();
  const resolve = open(async () => answers.shift() ?? [], clock);
  expect(await Promise.all([resolve('a.example'), resolve('a.example')])).toEqual([
    ['93.184.215.14'],
    ['93.184.215.14'],
  ]);
  await clock.advance(29_999);
  expect(await resolve('a.example')).toEqual(['93.184.215.14']);
  await clock.advance(1);
  expect(await resolve('a.example')).toEqual(['127.0.0.1']);
});

it('refuses a name without addresses, one that does not exist, and asks again next time', async () => {
  const enotfound = Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' });
  const answers: (string[] | Error)[] = [[], enotfound, ['1.1.1.1']];
  const resolve = open(async () => {
    const answer = answers.shift();
    if (answer instanceof Error) throw answer;
    return answer ?? [];
  });
  await expect(resolve('a.example')).rejects.toEqual(dnsFailure(/no addresses/));
  await expect(resolve('a.example')).rejects.toEqual(dnsFailure(/no such name/));
  expect(await resolve('a.example')).toEqual(['1.1.1.1']);
});

it('waits no longer than its time for an answer', async () => {
  const clock = fakeClock();
  const outcome = expect(open(() => new Promise(() => {}), clock)('slow.example')).rejects.toEqual(
    dnsFailure(/no answer within 5000 ms/),
  );
  await clock.advance(5_000);
  await outcome;
});
