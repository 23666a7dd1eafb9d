import { describe, expect, it } from 'vitest';
import { GantryError } from '../kernel/errors.ts';
import { type Log, silentLog } from '../kernel/log.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import type { Bus, MessageHandler } from './bus.ts';
import { createEnvelope, type Envelope } from './envelope.ts';
import { createInProcessBus } from './in-process-bus.ts';
import { createRequester } from './requester.ts';

const open = (change: (bus: Bus) => Partial<Bus> = () => ({}), log: Log = silentLog) => {
  const inner = createInProcessBus({ log: silentLog });
  const bus: Bus = { ...inner, ...change(inner) };
  const clock = fakeClock();
  const requester = createRequester({ bus, replyTopic: 'reply.a', subscriptionName: 'asker', source: 'a', log, clock });
  const ask = { messageType: 'ask', body: { question: 6 }, timeoutMs: 1_000 };
  const answering = (answer: (request: Envelope) => unknown): Promise<unknown> =>
    bus.subscribe('ask', 'answerer', async (request) => {
      const body = answer(request);
      if (body !== undefined) await bus.publish(request.replyTo ?? '', replyTo(request, body));
      return 'ack';
    });
  return { bus, clock, requester, ask, answering };
};

const replyTo = (request: Envelope, body: unknown): Envelope =>
  createEnvelope({ messageType: 'answer', source: 'b', body, correlationId: request.correlationId });

describe('createRequester', () => {
  it('publishes the request and resolves with its reply', async () => {
    const { requester, ask, answering } = open();
    const requests: Envelope[] = [];
    await answering((request) => requests.push(request) && 42);
    const reply = await requester.request('ask', { ...ask, headers: { h: '1' }, destination: 'b' });
    expect(reply).toMatchObject({ messageType: 'answer', body: 42, correlationId: requests[0]?.correlationId });
    expect(requests[0]).toMatchObject({
      messageType: 'ask',
      source: 'a',
      body: { question: 6 },
      replyTo: 'reply.a',
      headers: { h: '1' },
      destination: 'b',
    });
  });

  it('keeps replies to simultaneous requests apart', async () => {
    const { bus, requester, ask } = open();
    const requests: Envelope[] = [];
    await bus.subscribe('ask', 'answerer', async (request) => {
      requests.unshift(request);
      if (requests.length === 3)
        for (const waiting of requests) await bus.publish('reply.a', replyTo(waiting, waiting.body));
      return 'ack';
    });
    const replies = await Promise.all([1, 2, 3].map((body) => requester.request('ask', { ...ask, body })));
    expect(replies.map((reply) => reply.body)).toEqual([1, 2, 3]);
  });

  it('finds a reply that comes before publishing has ended', async () => {
    let reply: MessageHandler = async () => 'ack';
    const { requester, ask } = open((bus) => ({
      subscribe: async (pattern, name, handler) => {
        reply = handler;
        return bus.subscribe(pattern, name, handler);
      },
      publish: async (topic, request) => void (await reply(replyTo(request, 'quick'), topic)),
    }));
    expect((await requester.request('ask', ask)).body).toBe('quick');
  });

  it('subscribes at the first request, once for concurrent ones', async () => {
    const subscribed: string[] = [];
    const { requester, ask, answering } = open((bus) => ({
      subscribe: (pattern, name, ...rest) => {
        if (name === 'asker') subscribed.push(pattern);
        return bus.subscribe(pattern, name, ...rest);
      },
    }));
    await answering(() => 1);
    expect(subscribed).toEqual([]);
    await Promise.all([requester.request('ask', ask), requester.request('ask', ask)]);
    await requester.request('ask', ask);
    expect(subscribed).toEqual(['reply.a']);
  });

  it('tries again to subscribe after a failure', async () => {
    let failures = 1;
    const { requester, ask, answering } = open((bus) => ({
      subscribe: (pattern, name, ...rest) =>
        name === 'asker' && failures-- > 0
          ? Promise.reject(new Error('broker away'))
          : bus.subscribe(pattern, name, ...rest),
    }));
    await answering(() => 1);
    const first = await Promise.allSettled([requester.request('ask', ask), requester.request('ask', ask)]);
    expect(first.map((attempt) => attempt.status)).toEqual(['rejected', 'rejected']);
    expect((await requester.request('ask', ask)).body).toBe(1);
  });

  it('rejects with what publishing threw', async () => {
    const { requester, ask, clock } = open(() => ({ publish: () => Promise.reject(new Error('broker away')) }));
    await expect(requester.request('ask', ask)).rejects.toThrow('broker away');
    expect(clock.pendingTimers).toBe(0);
  });

  it('rejects with a time-out that names the topic', async () => {
    const { requester, ask, clock } = open();
    const request = expect(requester.request('ask', ask)).rejects.toMatchObject({
      code: 'timeout',
      message: 'No reply on "ask" within 1000 ms.',
    });
    await clock.advance(1_000);
    await request;
  });

  it('rejects with the error that the caller makes of a time-out', async () => {
    const { requester, ask, clock } = open();
    const error = new GantryError('timeout', 'The server is slow.');
    const request = expect(requester.request('ask', { ...ask, onTimeout: () => error })).rejects.toBe(error);
    await clock.advance(1_000);
    await request;
  });

  it.each<[string, Partial<Bus>]>([
    ['subscribing', { subscribe: () => new Promise(() => {}) }],
    ['publishing', { publish: () => new Promise(() => {}) }],
  ])('times out while %s hangs', async (_, hanging) => {
    const { requester, ask, clock } = open(() => hanging);
    const request = expect(requester.request('ask', ask)).rejects.toMatchObject({ code: 'timeout' });
    await clock.advance(1_000);
    await request;
  });

  it('does not publish a request that was given up while subscribing', async () => {
    const gate = Promise.withResolvers<void>();
    const published: string[] = [];
    const { requester, ask, clock } = open((bus) => ({
      subscribe: async (...options) => {
        await gate.promise;
        return bus.subscribe(...options);
      },
      publish: async (_, envelope) => void published.push(envelope.correlationId ?? ''),
    }));
    const late = requester.request('ask', { ...ask, correlationId: 'late', timeoutMs: 10 });
    const patient = requester.request('ask', { ...ask, correlationId: 'patient' });
    const outcomes = Promise.allSettled([late, patient]);
    await clock.advance(10);
    gate.resolve();
    await clock.advance(1_000);
    await outcomes;
    expect(published).toEqual(['patient']);
  });

  it('keeps the process alive until the reply comes', async () => {
    const { requester, ask, answering, clock } = open();
    await answering(() => (expect(clock.keepingAlive).toBe(1), 42));
    await requester.request('ask', ask);
    expect(clock.keepingAlive).toBe(0);
  });

  it('rejects with cancellation when the caller gives up, and stops its timer', async () => {
    const { requester, ask, clock } = open();
    const controller = new AbortController();
    const request = requester.request('ask', { ...ask, signal: controller.signal });
    controller.abort();
    await expect(request).rejects.toMatchObject({ code: 'cancelled' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('sends nothing for a caller that has given up already', async () => {
    const published: string[] = [];
    const { requester, ask } = open(() => ({ publish: async (topic) => void published.push(topic) }));
    await expect(requester.request('ask', { ...ask, signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: 'cancelled',
    });
    expect(published).toEqual([]);
  });

  it.each([
    ['unknown', 'nobody'],
    ['absent', undefined],
  ])('acknowledges and logs a reply with an %s correlation id', async (_, correlationId) => {
    const logged: unknown[] = [];
    let onReply: MessageHandler = async () => 'retry';
    const { requester, ask, answering } = open(
      (bus) => ({
        subscribe: (pattern, name, handler, options) => {
          if (name === 'asker') onReply = handler;
          return bus.subscribe(pattern, name, handler, options);
        },
      }),
      { ...silentLog, debug: (facts) => void logged.push(facts) },
    );
    await answering(() => 1);
    await requester.request('ask', ask);
    const stray = createEnvelope({ messageType: 'answer', source: 'b', body: 1, correlationId });
    expect(await onReply(stray, 'reply.a')).toBe('ack');
    expect(logged).toEqual([{ replyTopic: 'reply.a', messageType: 'answer', correlationId }]);
  });

  it('frees the correlation id when the request is over, and refuses one in use', async () => {
    const { requester, ask, answering, clock } = open();
    const first = requester.request('ask', { ...ask, correlationId: 'c1' });
    await expect(requester.request('ask', { ...ask, correlationId: 'c1' })).rejects.toMatchObject({
      code: 'record_exists',
    });
    const expired = expect(first).rejects.toMatchObject({ code: 'timeout' });
    await clock.advance(1_000);
    await expired;
    await answering(() => 1);
    expect((await requester.request('ask', { ...ask, correlationId: 'c1' })).correlationId).toBe('c1');
  });

  it('rejects all that waits when disposed, ends its subscription and takes nothing more', async () => {
    const { bus, requester, ask, answering, clock } = open();
    await answering(() => undefined);
    const waiting = Promise.allSettled([requester.request('ask', ask), requester.request('ask', ask)]);
    await clock.advance(0);
    await requester[Symbol.asyncDispose]();
    for (const outcome of await waiting) expect(outcome).toMatchObject({ reason: { code: 'stopped' } });
    await expect(requester.request('ask', ask)).rejects.toMatchObject({ code: 'stopped' });
    // The name is free again, so its subscription has ended.
    await bus.subscribe('elsewhere', 'asker', async () => 'ack');
    expect(clock.pendingTimers).toBe(0);
  });
});
