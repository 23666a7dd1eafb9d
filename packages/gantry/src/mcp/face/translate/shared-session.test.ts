import { describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Exchange } from '../../wire/sessions/exchange.ts';
import { isBelow, wishSharedLog } from './shared-log.ts';
import { subscribeShared, unsubscribeShared } from './shared-subscriptions.ts';

const signal = new AbortController().signal;
const ignore = (): void => {};

/** A session whose server refuses the resource `docs://none`. */
const startSession = () => {
  const sent: string[] = [];
  const request = (method: string, params: JsonObject): Exchange => {
    const about = params['uri'] ?? params['level'];
    sent.push(`${method} ${typeof about === 'string' ? about : ''}`);
    const next = async () => {
      if (params['uri'] === 'docs://none') throw new GantryError('execution_failed', 'no such resource');
      return { result: {} };
    };
    return { next, abandon: ignore, answer: async () => {}, hear: ignore, take: ignore };
  };
  return { sent, request };
};

describe('subscriptions that several share', () => {
  const [one, other] = [
    { holder: {}, owner: 'a' },
    { holder: {}, owner: 'b' },
  ];

  it('are made by the first who wants one, and ended by the last', async () => {
    const session = startSession();
    await Promise.all([
      subscribeShared(session, one, ['docs://a', 'docs://b'], signal),
      subscribeShared(session, other, ['docs://a'], signal),
    ]);
    unsubscribeShared(session, one, ['docs://a', 'docs://b'], ignore);
    unsubscribeShared(session, other, ['docs://a'], ignore);
    expect(session.sent).toEqual([
      'resources/subscribe docs://a',
      'resources/subscribe docs://b',
      'resources/unsubscribe docs://b',
      'resources/unsubscribe docs://a',
    ]);
  });

  it('are all made or none, for all that wait', async () => {
    const session = startSession();
    await subscribeShared(session, other, ['docs://kept'], signal);
    await subscribeShared(session, one, ['docs://mine'], signal);
    const all = ['docs://kept', 'docs://mine', 'docs://a', 'docs://none'];
    const asked = [
      subscribeShared(session, one, all, signal),
      subscribeShared(session, other, ['docs://none'], signal),
    ];
    for (const one of asked) await expect(one).rejects.toThrow('no such resource');
    expect(session.sent.filter((said) => said.startsWith('resources/unsubscribe'))).toEqual([
      'resources/unsubscribe docs://a',
    ]);
    await expect(subscribeShared(session, one, ['docs://none'], signal)).rejects.toThrow('no such resource');
  });

  it('count once for each who wants them, however often', async () => {
    const session = startSession();
    for (let count = 0; count < 2; count += 1) await subscribeShared(session, one, ['docs://a'], signal);
    unsubscribeShared(session, other, ['docs://a'], ignore);
    expect(session.sent).toEqual(['resources/subscribe docs://a']);
    unsubscribeShared(session, one, ['docs://a'], ignore);
    unsubscribeShared(session, one, ['docs://a'], ignore);
    expect(session.sent).toEqual(['resources/subscribe docs://a', 'resources/unsubscribe docs://a']);
  });

  it('are of one session each', async () => {
    const [first, second] = [startSession(), startSession()];
    for (const session of [first, second]) await subscribeShared(session, one, ['docs://a'], signal);
    expect(second.sent).toHaveLength(1);
  });
});

describe('the level of a log that several share', () => {
  it('is the lowest that anybody wants', () => {
    const session = startSession();
    const [one, other] = [{}, {}];
    wishSharedLog(session, one, 'error', ignore);
    wishSharedLog(session, other, 'critical', ignore);
    wishSharedLog(session, other, 'debug', ignore);
    wishSharedLog(session, other, undefined, ignore);
    wishSharedLog(session, one, undefined, ignore);
    expect(session.sent).toEqual(['logging/setLevel error', 'logging/setLevel debug', 'logging/setLevel error']);
  });

  it('leaves out for one what only others want', () => {
    const message = (params: JsonObject) => ({ method: 'notifications/message', params });
    expect(isBelow({ method: 'notifications/progress', params: { level: 'info' } }, 'error')).toBe(false);
    expect(isBelow(message({ level: 'info' }), 'error')).toBe(true);
    expect(isBelow(message({ level: 'error' }), 'error')).toBe(false);
    expect(isBelow(message({ level: 'emergency' }), 'error')).toBe(false);
    expect(isBelow(message({ level: 'of its own' }), 'error')).toBe(false);
    expect(isBelow(message({}), 'error')).toBe(false);
  });
});
