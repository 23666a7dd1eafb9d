import { describe, expect, it } from 'vitest';
import { type Log, silentLog } from '../kernel/log.ts';
import { busContract } from '../testing/contracts/bus-contract.ts';
import type { MessageHandler } from './bus.ts';
import { createEnvelope, type Envelope } from './envelope.ts';
import { createInProcessBus } from './in-process-bus.ts';

const envelope = createEnvelope({ messageType: 'note', source: 'test', body: { text: 'hello' } });

const createLines = (): { log: Log; lines: string[] } => {
  const lines: string[] = [];
  const write = (_: unknown, message: string): void => void lines.push(message);
  return { log: { debug: write, info: write, warn: write, error: write }, lines };
};

describe('createInProcessBus', () => {
  busContract(async () => createInProcessBus({ log: silentLog }));

  it('passes the very object that was published', async () => {
    await using bus = createInProcessBus({ log: silentLog });
    const arrived = Promise.withResolvers<Envelope>();
    await bus.subscribe('note', 'reader', async (message) => {
      arrived.resolve(message);
      return 'ack';
    });
    await bus.publish('note', envelope);
    expect(await arrived.promise).toBe(envelope);
  });

  it('starts a handler with a free slot after the publisher went on, within one microtask', async () => {
    await using bus = createInProcessBus({ log: silentLog });
    const events: string[] = [];
    await bus.subscribe('note', 'reader', async () => {
      events.push('handled');
      return 'ack';
    });
    void bus.publish('note', envelope);
    events.push('published');
    await Promise.resolve();
    expect(events).toEqual(['published', 'handled']);
  });

  it('takes turns between subscribers of one name', async () => {
    await using bus = createInProcessBus({ log: silentLog });
    const seen: string[] = [];
    const done = Promise.withResolvers<void>();
    for (const name of ['one', 'two'])
      await bus.subscribe('note', 'readers', async () => {
        if (seen.push(name) === 4) done.resolve();
        return 'ack';
      });
    for (let count = 0; count < 4; count += 1) {
      await bus.publish('note', envelope);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await done.promise;
    expect(seen.toSorted()).toEqual(['one', 'one', 'two', 'two']);
  });

  it('gives a message to another of the name when its subscriber leaves before beginning', async () => {
    await using bus = createInProcessBus({ log: silentLog });
    const arrived = Promise.withResolvers<string>();
    const handler =
      (name: string): MessageHandler =>
      async () => {
        arrived.resolve(name);
        return 'ack';
      };
    const one = await bus.subscribe('note', 'readers', handler('one'));
    void bus.publish('note', envelope);
    const disposal = one[Symbol.asyncDispose]();
    expect(one.isActive).toBe(false);
    await disposal;
    await bus.subscribe('note', 'readers', handler('two'));
    void bus.publish('note', envelope);
    expect(await arrived.promise).toBe('two');
  });

  it('lets running handlers publish while it is being disposed', async () => {
    const bus = createInProcessBus({ log: silentLog });
    const gate = Promise.withResolvers<void>();
    const outcome = Promise.withResolvers<string>();
    const begun = Promise.withResolvers<void>();
    await bus.subscribe('note', 'reader', async () => {
      begun.resolve();
      await gate.promise;
      await bus.publish('reply', envelope).then(
        () => outcome.resolve('published'),
        () => outcome.resolve('refused'),
      );
      return 'ack';
    });
    await bus.publish('note', envelope);
    await begun.promise;
    const disposal = bus[Symbol.asyncDispose]();
    gate.resolve();
    await disposal;
    expect(await outcome.promise).toBe('published');
  });

  it('says in the log what it drops', async () => {
    const { log, lines } = createLines();
    const answers: Record<string, MessageHandler> = {
      retry: async () => 'retry',
      dead: async () => 'dead-letter',
      broken: () => {
        throw new Error('no disk');
      },
    };
    for (const [topic, answer] of Object.entries(answers)) {
      const bus = createInProcessBus({ log });
      await bus.subscribe(topic, topic, answer);
      await bus.publish(topic, envelope);
      await new Promise((resolve) => setImmediate(resolve));
      await bus[Symbol.asyncDispose]();
    }
    expect(lines).toEqual([
      'Message dropped after 4 attempts.',
      'Message dead-lettered by its handler.',
      'Message dropped: its handler failed with "no disk".',
    ]);
  });

  it('logs the error of a handler as an error, with its stack', async () => {
    const facts: object[] = [];
    await using bus = createInProcessBus({ log: { ...silentLog, error: (fact) => void facts.push(fact) } });
    const fault = new Error('no disk');
    await bus.subscribe('note', 'broken', () => Promise.reject(fault));
    await bus.publish('note', envelope);
    await new Promise((resolve) => setImmediate(resolve));
    expect(facts).toMatchObject([{ topic: 'note', err: fault }]);
  });

  it('forgets a topic when its last subscriber left, so the name can serve another', async () => {
    await using bus = createInProcessBus({ log: silentLog });
    const first = await bus.subscribe('one', 'name', async () => 'ack');
    await first[Symbol.asyncDispose]();
    const second = await bus.subscribe('two.*', 'name', async () => 'ack');
    expect(second.topic).toBe('two.*');
  });
});
