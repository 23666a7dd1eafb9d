import { describe, expect, it } from 'vitest';
import { GantryError } from '../../../kernel/errors.ts';
import { silentLog } from '../../../kernel/log.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { fakeSender } from './__fixtures__/fake-sender.ts';
import { createSessionNotices } from './listen-to-newer.ts';

const signal = new AbortController().signal;
const refusal = new GantryError('execution_failed', 'not today');

/** A session that listens, and the server's side of its streams. */
const startSession = (capabilities: object = { resources: { subscribe: true } }) => {
  const { sent, send } = fakeSender();
  const clock = fakeClock();
  const heard: string[] = [];
  const server = {
    getClientCapabilities: () => ({}),
    getClientVersion: () => undefined,
    notification: async ({ method }: { method: string }) => void heard.push(method),
  };
  const target = { name: 's', link: { capabilities } };
  const notices = createSessionNotices({
    server: server as never,
    visit: () => ({ target, client: undefined }) as never,
    send,
    clock,
    log: silentLog,
  });
  const acknowledge = (index: number): void =>
    sent.at(index)?.tell({ method: 'notifications/subscriptions/acknowledged', params: {} });
  const update = (index: number): void =>
    sent.at(index)?.tell({ method: 'notifications/resources/updated', params: { uri: 'docs://a' } });
  return { notices, sent, clock, heard, acknowledge, update };
};

describe('the stream of notices of a session of 2025', () => {
  it('stays until the one that takes its place is acknowledged, however many are begun', async () => {
    const { notices, sent, heard, acknowledge, update } = startSession();
    const first = notices.subscribe('docs://a', signal);
    acknowledge(-1);
    await first;
    const more = [notices.subscribe('docs://b', signal), notices.subscribe('docs://c', signal)];
    update(0);
    expect(heard).toEqual(['notifications/resources/updated']);
    expect(sent.map(({ isAbandoned }) => isAbandoned)).toEqual([false, true, false]);
    acknowledge(-1);
    await Promise.all(more);
    expect(sent.map(({ isAbandoned }) => isAbandoned)).toEqual([true, true, false]);
    expect(sent.at(-1)?.params['notifications']).toEqual({
      resourceSubscriptions: ['docs://a', 'docs://b', 'docs://c'],
    });
  });

  it('stays where a subscription is refused', async () => {
    const { notices, sent, heard, acknowledge, update } = startSession();
    const first = notices.subscribe('docs://a', signal);
    acknowledge(-1);
    await first;
    const refused = notices.subscribe('docs://none', signal);
    sent.at(-1)?.fail(refusal);
    await expect(refused).rejects.toThrow('not today');
    update(0);
    expect([heard.length, sent[0]?.isAbandoned]).toEqual([1, false]);
  });

  it('is opened again when it ends, later each time that fails', async () => {
    const { notices, sent, clock, acknowledge } = startSession({ tools: { listChanged: true } });
    notices.start();
    acknowledge(-1);
    const waits = [5_000, 10_000, 20_000, 40_000, 60_000, 60_000];
    for (const [index, waitMs] of waits.entries()) {
      sent.at(-1)?.fail(refusal);
      await clock.advance(waitMs - 1);
      expect(sent).toHaveLength(index + 1);
      await clock.advance(1);
      expect(sent).toHaveLength(index + 2);
    }
    acknowledge(-1);
    sent.at(-1)?.fail(refusal);
    await clock.advance(5_000);
    expect(sent).toHaveLength(waits.length + 2);
  });

  it('is not opened again at a server that is gone', async () => {
    const { notices, sent, clock } = startSession({ tools: { listChanged: true } });
    notices.start();
    sent.at(-1)?.fail(new GantryError('server_unknown', 'gone'));
    await clock.advance(60_000);
    expect([sent.length, clock.pendingTimers]).toEqual([1, 0]);
  });

  it('does not keep a subscription that its client has given up', async () => {
    const { notices, sent } = startSession();
    const ending = new AbortController();
    const given = notices.subscribe('docs://a', ending.signal);
    ending.abort();
    await expect(given).rejects.toThrow();
    expect(sent.map(({ isAbandoned }) => isAbandoned)).toEqual([true]);
  });

  it('brings what is listened to, and nothing that could be taken for a question', () => {
    const { notices, sent, heard, acknowledge } = startSession({ tools: { listChanged: true } });
    notices.start();
    acknowledge(-1);
    for (const method of [
      'elicitation/create',
      'notifications/tasks',
      'notifications/message',
      'notifications/tools/list_changed',
    ])
      sent.at(-1)?.tell({ method, params: {} });
    expect(heard).toEqual(['notifications/tools/list_changed']);
  });
});
