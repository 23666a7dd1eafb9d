import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus, MessageHandler, Verdict } from '../../bus/bus.ts';
import { createEnvelope, type Envelope } from '../../bus/envelope.ts';

/** What every {@link Bus} must do. `open` gives an empty bus; the suite disposes it. Waits for events only, never for time. */
export const busContract = (open: () => Promise<Bus>): void => {
  describe('as a bus', () => {
    let bus: Bus;
    beforeEach(async () => {
      bus = await open();
    });
    afterEach(() => bus[Symbol.asyncDispose]());
    const publish = (topic: string, messageType: string) => bus.publish(topic, message(messageType));

    it('delivers every field of an envelope', async () => {
      const inbox = createInbox();
      await bus.subscribe('order.made', 'shop', inbox.handler);
      const envelope = createEnvelope({
        messageType: 'order',
        source: 'till',
        body: { lines: [{ sku: 'ä', count: 2 }], note: null },
        correlationId: 'c1',
        replyTo: 'order.reply',
        destination: 'shop',
        headers: { 'gantry-timeout-ms': '500', traceparent: 'x' },
      });
      await bus.publish('order.made', envelope);
      expect(await inbox.next()).toEqual({ topic: 'order.made', envelope });
    });

    it('delivers absent fields as absent', async () => {
      const inbox = createInbox();
      await bus.subscribe('order.made', 'shop', inbox.handler);
      await publish('order.made', 'order');
      expect((await inbox.next()).envelope).toMatchObject({
        correlationId: undefined,
        replyTo: undefined,
        destination: undefined,
        headers: {},
      });
    });

    it.each([
      ['agent.*', ['agent.task', 'agent.status']],
      ['agent.#', ['agent', 'agent.task', 'agent.status', 'agent.task.x']],
      ['#', ['agent', 'agent.task', 'agent.status', 'agent.task.x', 'Agent.task', 'other']],
      ['agent.task', ['agent.task']],
      ['#.x', ['agent.task.x']],
    ])('gives a subscriber of %s the topics that fit', async (pattern, expected) => {
      const inbox = createInbox();
      const end = createInbox();
      await bus.subscribe(pattern, 'subject', inbox.handler);
      await bus.subscribe('end', 'end', end.handler);
      const sent = ['agent', 'agent.task', 'agent.status', 'agent.task.x', 'Agent.task', 'other'];
      for (const topic of sent) await publish(topic, topic);
      for (const _ of expected) await inbox.next();
      await publish('end', 'end');
      await end.next();
      const arrived = inbox.received.filter(({ topic }) => topic !== 'end').map(({ topic }) => topic);
      expect(arrived.toSorted()).toEqual(expected.toSorted());
    });

    it('gives each subscription name its copy', async () => {
      const [one, two] = [createInbox(), createInbox()];
      await bus.subscribe('news', 'one', one.handler);
      await bus.subscribe('news', 'two', two.handler);
      await publish('news', 'a');
      expect((await one.next()).envelope.messageType).toBe('a');
      expect((await two.next()).envelope.messageType).toBe('a');
    });

    it('shares messages between subscribers of one name', async () => {
      const shared = createInbox();
      await bus.subscribe('job', 'workers', (envelope, topic) => shared.handler(envelope, topic));
      await bus.subscribe('job', 'workers', (envelope, topic) => shared.handler(envelope, topic));
      for (const type of ['a', 'b', 'c', 'd', 'end']) await publish('job', type);
      for (let count = 0; count < 5; count += 1) await shared.next();
      // A second copy of anything would stand before the second end.
      await publish('job', 'end');
      await shared.next();
      expect(types(shared).toSorted()).toEqual(['a', 'b', 'c', 'd', 'end', 'end']);
    });

    it('does not hold messages for a busy subscriber while another of its name is free', async () => {
      const gate = Promise.withResolvers<Verdict>();
      const free = createInbox();
      const busy = createInbox(async (envelope) => (envelope.messageType === 'slow' ? gate.promise : 'ack'));
      await bus.subscribe('job', 'workers', busy.handler);
      await publish('job', 'slow');
      await busy.next();
      await bus.subscribe('job', 'workers', free.handler);
      await publish('job', 'a');
      await publish('job', 'b');
      await free.next();
      await free.next();
      gate.resolve('ack');
      expect(types(free)).toEqual(['a', 'b']);
    });

    it('refuses a second pattern under one subscription name', async () => {
      await bus.subscribe('one', 'name', ack);
      await expect(bus.subscribe('two', 'name', ack)).rejects.toMatchObject({ code: 'subscription_conflict' });
    });

    it('handles one message at a time, in order', async () => {
      const gate = Promise.withResolvers<Verdict>();
      let running = 0;
      let most = 0;
      const inbox = createInbox(async () => {
        running += 1;
        most = Math.max(most, running);
        await gate.promise;
        running -= 1;
        return 'ack';
      });
      await bus.subscribe('job', 'worker', inbox.handler);
      for (const type of ['a', 'b', 'c']) await publish('job', type);
      await inbox.next();
      gate.resolve('ack');
      await inbox.next();
      await inbox.next();
      expect(types(inbox)).toEqual(['a', 'b', 'c']);
      expect(most).toBe(1);
    });

    it.each([3, Infinity])('handles several at once with concurrency %s', async (concurrency) => {
      const gate = Promise.withResolvers<Verdict>();
      const inbox = createInbox(() => gate.promise);
      await bus.subscribe('job', 'worker', inbox.handler, { concurrency });
      for (const type of ['a', 'b', 'c', 'd']) await publish('job', type);
      const atOnce = Math.min(concurrency, 4);
      for (let count = 0; count < atOnce; count += 1) await inbox.next();
      expect(inbox.received).toHaveLength(atOnce);
      gate.resolve('ack');
      for (let count = atOnce; count < 4; count += 1) await inbox.next();
      expect(types(inbox).toSorted()).toEqual(['a', 'b', 'c', 'd']);
    });

    it('redelivers at most three times, then goes on', async () => {
      const inbox = createInbox(async (envelope) => (envelope.messageType === 'again' ? 'retry' : 'ack'));
      await bus.subscribe('job', 'worker', inbox.handler);
      await publish('job', 'again');
      for (let count = 0; count < 4; count += 1) await inbox.next();
      // A fifth attempt would stand before the second of these.
      for (const type of ['first', 'second']) {
        await publish('job', type);
        await inbox.next();
      }
      expect(types(inbox)).toEqual(['again', 'again', 'again', 'again', 'first', 'second']);
    });

    it('redelivers behind what already waits', async () => {
      const gate = Promise.withResolvers<void>();
      let attempts = 0;
      const inbox = createInbox(async (envelope) => {
        if (envelope.messageType !== 'again') return 'ack';
        await gate.promise;
        attempts += 1;
        return attempts === 1 ? 'retry' : 'ack';
      });
      await bus.subscribe('job', 'worker', inbox.handler);
      await publish('job', 'again');
      await inbox.next();
      await publish('job', 'waiting');
      gate.resolve();
      await inbox.next();
      await inbox.next();
      expect(types(inbox)).toEqual(['again', 'waiting', 'again']);
    });

    it.each<[string, () => Promise<Verdict>]>([
      ['dead-letters', async () => 'dead-letter'],
      [
        'throws',
        () => {
          throw new Error('broken');
        },
      ],
      ['rejects', () => Promise.reject(new Error('broken'))],
    ])('gives a message whose handler %s to it once, and goes on', async (_, answer) => {
      const inbox = createInbox((envelope) => (envelope.messageType === 'bad' ? answer() : ack()));
      const other = createInbox();
      await bus.subscribe('job', 'worker', inbox.handler);
      await bus.subscribe('job', 'other', other.handler);
      for (const type of ['bad', 'first', 'second']) await publish('job', type);
      for (let count = 0; count < 3; count += 1) {
        await inbox.next();
        await other.next();
      }
      expect(types(inbox)).toEqual(['bad', 'first', 'second']);
      expect(types(other)).toEqual(['bad', 'first', 'second']);
    });

    it('lets a slow subscription hold up nobody else', async () => {
      const gate = Promise.withResolvers<Verdict>();
      const slow = createInbox(() => gate.promise);
      const quick = createInbox();
      await bus.subscribe('job', 'slow', slow.handler);
      await bus.subscribe('job', 'quick', quick.handler);
      for (const type of ['a', 'b']) await publish('job', type);
      await quick.next();
      await quick.next();
      expect(types(slow).length).toBeLessThan(2);
      gate.resolve('ack');
    });

    it('drops a message that nobody subscribes to', async () => {
      await publish('job', 'early');
      const inbox = createInbox();
      await bus.subscribe('job', 'worker', inbox.handler);
      await publish('job', 'late');
      await inbox.next();
      expect(types(inbox)).toEqual(['late']);
    });

    it('delivers nothing after disposal', async () => {
      const [gone, stays] = [createInbox(), createInbox()];
      const subscription = await bus.subscribe('job', 'gone', gone.handler);
      await bus.subscribe('job', 'stays', stays.handler);
      expect(subscription).toMatchObject({ topic: 'job', subscriptionName: 'gone', isActive: true });
      await publish('job', 'a');
      await gone.next();
      await stays.next();
      await subscription[Symbol.asyncDispose]();
      expect(subscription.isActive).toBe(false);
      await publish('job', 'b');
      await stays.next();
      await subscription[Symbol.asyncDispose]();
      expect(types(gone)).toEqual(['a']);
    });

    it('waits for the running handler when disposed', async () => {
      const gate = Promise.withResolvers<void>();
      const events: string[] = [];
      const inbox = createInbox(async () => {
        await gate.promise;
        events.push('handled');
        return 'ack';
      });
      const subscription = await bus.subscribe('job', 'worker', inbox.handler);
      await publish('job', 'a');
      await inbox.next();
      const disposal = subscription[Symbol.asyncDispose]().then(() => events.push('disposed'));
      expect(subscription.isActive).toBe(false);
      gate.resolve();
      await disposal;
      expect(events).toEqual(['handled', 'disposed']);
    });

    it('leaves what waits to the others of the name when one is disposed', async () => {
      const gate = Promise.withResolvers<Verdict>();
      const [one, two] = [createInbox(() => gate.promise), createInbox()];
      const subscription = await bus.subscribe('job', 'workers', one.handler);
      await publish('job', 'a');
      await one.next();
      await publish('job', 'b');
      await bus.subscribe('job', 'workers', two.handler);
      const disposal = subscription[Symbol.asyncDispose]();
      gate.resolve('ack');
      await disposal;
      await two.next();
      expect([types(one), types(two)]).toEqual([['a'], ['b']]);
    });

    it('lets a handler publish, and answer on the topic that the request names', async () => {
      const inbox = createInbox();
      await bus.subscribe('reply', 'asker', inbox.handler);
      await bus.subscribe('ask', 'answerer', async (envelope) => {
        const { correlationId } = envelope;
        const reply = createEnvelope({ messageType: 'answer', source: 'answerer', body: 42, correlationId });
        await bus.publish(envelope.replyTo ?? 'nowhere', reply);
        return 'ack';
      });
      const ask = { messageType: 'ask', source: 'asker', body: null, correlationId: 'c1', replyTo: 'reply' };
      await bus.publish('ask', createEnvelope(ask));
      expect((await inbox.next()).envelope).toMatchObject({ messageType: 'answer', correlationId: 'c1', body: 42 });
    });

    it('ends its subscriptions and refuses work when disposed', async () => {
      const subscription = await bus.subscribe('job', 'worker', ack);
      await bus[Symbol.asyncDispose]();
      expect(subscription.isActive).toBe(false);
      await expect(publish('job', 'a')).rejects.toMatchObject({ code: 'stopped' });
      await expect(bus.subscribe('job', 'worker', ack)).rejects.toMatchObject({ code: 'stopped' });
    });
  });
};

interface Received {
  readonly topic: string;
  readonly envelope: Envelope;
}

interface Inbox {
  readonly handler: MessageHandler;
  readonly received: Received[];
  /** The first message not asked for yet, as soon as its handler has been called. */
  next(): Promise<Received>;
}

const ack = async (): Promise<Verdict> => 'ack';

const createInbox = (answer: (envelope: Envelope) => Promise<Verdict> = ack): Inbox => {
  const received: Received[] = [];
  const unread: Received[] = [];
  const waiting: ((message: Received) => void)[] = [];
  return {
    received,
    handler: (envelope, topic) => {
      const message = { topic, envelope };
      received.push(message);
      const reader = waiting.shift();
      if (reader === undefined) unread.push(message);
      else reader(message);
      return answer(envelope);
    },
    next: () => {
      const message = unread.shift();
      return message === undefined ? new Promise((resolve) => waiting.push(resolve)) : Promise.resolve(message);
    },
  };
};

const types = (inbox: Inbox): string[] => inbox.received.map(({ envelope }) => envelope.messageType);

const message = (messageType: string): Envelope => createEnvelope({ messageType, source: 'test', body: {} });
