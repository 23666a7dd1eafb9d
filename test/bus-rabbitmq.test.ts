import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { Connection } from 'rabbitmq-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { MessageHandler, Verdict } from '../packages/gantry/src/bus/bus.ts';
import { createEnvelope, type Envelope } from '../packages/gantry/src/bus/envelope.ts';
import {
  createRabbitBus,
  type RabbitBus,
  type RabbitBusOptions,
} from '../packages/gantry/src/bus/rabbitmq/create-rabbit-bus.ts';
import { probeBroker } from '../packages/gantry/src/bus/rabbitmq/probe-broker.ts';
import { systemClock as clock } from '../packages/gantry/src/kernel/clock.ts';
import { newId } from '../packages/gantry/src/kernel/ids.ts';
import { type Log, silentLog } from '../packages/gantry/src/kernel/log.ts';
import { busContract } from '../packages/gantry/src/testing/contracts/bus-contract.ts';
import type { RabbitBroker } from './fixtures/rabbit-broker.ts';
import { brokerPassword, hasBroker, startRabbitBroker } from './fixtures/rabbit-broker.ts';

const retryMs = { first: 50, longest: 200 };
const note = (messageType: string, headers: Record<string, string> = {}): Envelope =>
  createEnvelope({ messageType, source: 'test', body: {}, headers });

/** Collects what a subscription gets; `answer` decides. */
const createInbox = (answer: (envelope: Envelope) => Promise<Verdict> | Verdict = () => 'ack') => {
  const types: string[] = [];
  const handler: MessageHandler = async (envelope) => {
    types.push(envelope.messageType);
    return answer(envelope);
  };
  return { types, handler };
};

const createLines = (): { log: Log; lines: string[] } => {
  const lines: string[] = [];
  const write = (facts: unknown, message: string): void => void lines.push(`${message} ${JSON.stringify(facts)}`);
  return { log: { debug: write, info: write, warn: write, error: write }, lines };
};

describe.skipIf(!hasBroker)('a bus over RabbitMQ', () => {
  let broker: RabbitBroker;
  beforeAll(async () => {
    broker = await startRabbitBroker();
  });
  afterAll(() => broker?.[Symbol.asyncDispose]());

  let prefix: string;
  beforeEach(() => {
    prefix = newId();
  });
  const open = (more: Partial<RabbitBusOptions> = {}): Promise<RabbitBus> =>
    createRabbitBus({ url: broker.url, prefix, agent: 'test', clock, log: silentLog, retryMs, ...more });

  busContract(() => open());

  describe('between processes', () => {
    let raw: Connection;
    beforeEach(() => {
      raw = new Connection({ url: broker.url, retryLow: 50, retryHigh: 200 });
      raw.on('error', () => {});
    });
    afterEach(() => raw.unsafeDestroy());
    /** Takes the next message of a queue and goes away without a word. */
    const takeAndDie = async (queue: string): Promise<void> => {
      const dying = new Connection({ url: broker.url });
      const taken = Promise.withResolvers<unknown>();
      const channel = await dying.acquire();
      await channel.basicConsume({ queue }, taken.resolve);
      await taken.promise;
      dying.unsafeDestroy();
    };

    it('shares the queue of a name, and keeps it for the process that comes back', async () => {
      await using here = await open();
      {
        await using there = await open();
        await there.subscribe('job', 'worker', async () => 'ack');
      }
      await here.publish('job', note('waiting'));
      await using back = await open();
      const inbox = createInbox();
      await back.subscribe('job', 'worker', inbox.handler);
      await expect.poll(() => inbox.types).toEqual(['waiting']);
    });

    it('gives every process its own queue where that is asked for, and removes it with the subscription', async () => {
      await using here = await open();
      const there = await open();
      const [one, two] = [createInbox(), createInbox()];
      await here.subscribe('reply.to.us', 'us.replies', one.handler, { perProcess: true });
      await there.subscribe('reply.to.us', 'us.replies', two.handler, { perProcess: true });
      await there.publish('reply.to.us', note('reply'));
      await expect.poll(() => [one.types, two.types]).toEqual([['reply'], ['reply']]);
      await there[Symbol.asyncDispose]();
      await here.publish('reply.to.us', note('another'));
      await expect.poll(() => one.types).toEqual(['reply', 'another']);
      expect(two.types).toEqual(['reply']);
    });

    it('gives the message of a process that died to another, and buries one that nobody survives', async () => {
      await using here = await open();
      await (await here.subscribe('job', 'worker', async () => 'ack'))[Symbol.asyncDispose]();
      const queue = `${prefix}.worker`;
      await here.publish('job', note('once'));
      await takeAndDie(queue);
      const inbox = createInbox();
      const subscription = await here.subscribe('job', 'worker', inbox.handler);
      await expect.poll(() => inbox.types).toEqual(['once']);
      await subscription[Symbol.asyncDispose]();

      // Ten processes had it and went away; this is the eleventh.
      const headers = { 'gantry-losses': '10', 'gantry-topic': 'job' };
      const deadly = { type: 'deadly', contentType: 'application/json', headers };
      const publisher = raw.createPublisher();
      await publisher.send({ routingKey: queue, ...deadly }, Buffer.from('{}'));
      await takeAndDie(queue);
      await here.subscribe('job', 'worker', inbox.handler);
      await here.publish('job', note('next'));
      await expect.poll(() => inbox.types).toEqual(['once', 'next']);
      expect(await raw.basicGet({ queue: `${queue}.dlq`, noAck: true })).toMatchObject({ type: 'deadly' });
    });

    it('keeps dead letters, with the reason in the log', async () => {
      const { log, lines } = createLines();
      await using bus = await open({ log });
      const inbox = createInbox(({ messageType }) => {
        if (messageType === 'throws') throw new Error('no disk');
        return messageType as Verdict;
      });
      await bus.subscribe('job', 'worker', inbox.handler);
      for (const type of ['dead-letter', 'throws', 'retry', 'ack']) await bus.publish('job', note(type));
      await expect.poll(() => inbox.types.length).toBe(7);
      const queue = `${prefix}.worker.dlq`;
      const buried: unknown[] = [];
      for (let count = 0; count < 3; count += 1)
        await expect
          .poll(async () => {
            const found = await raw.basicGet({ queue, noAck: true });
            if (found) buried.push(found.type);
            return found !== undefined;
          })
          .toBe(true);
      expect(buried).toEqual(['dead-letter', 'throws', 'retry']);
      expect(lines.join('\n')).toMatch(/dead-lettered by its handler.*failed with "no disk".*after 4 attempts/s);
    });

    it('buries what it cannot read, says so without repeating it, and goes on', async () => {
      const { log, lines } = createLines();
      await using bus = await open({ log });
      const inbox = createInbox();
      await bus.subscribe('job', 'worker', inbox.handler);
      const send = (properties: object, body: Buffer): Promise<void> =>
        raw.createPublisher().send({ exchange: prefix, routingKey: 'job', ...properties }, body);
      await send({ type: 'T', contentType: 'application/json' }, Buffer.from('{"secret": "hunter2'));
      await send({ contentType: 'application/json' }, Buffer.from('{}'));
      await send({ type: 'T', contentType: 'image/png' }, Buffer.from([1, 2, 3]));
      await send({ type: 'of-another-program', contentType: 'application/json' }, Buffer.from('{}'));
      await expect.poll(() => inbox.types).toEqual(['of-another-program']);
      expect(lines.filter((line) => line.includes('cannot be read'))).toHaveLength(3);
      expect(lines.join('\n')).not.toContain('hunter2');
    });

    it('drops what its sender waits for no longer', async () => {
      await using bus = await open();
      await (await bus.subscribe('job', 'worker', async () => 'ack'))[Symbol.asyncDispose]();
      await bus.publish('job', note('late', { 'gantry-timeout-ms': '1' }));
      await bus.publish('job', note('in-time', { 'gantry-timeout-ms': '60000' }));
      const inbox = createInbox();
      await bus.subscribe('job', 'worker', inbox.handler);
      await expect.poll(() => inbox.types).toEqual(['in-time']);
    });

    it('does not give a subscription what only an earlier version of it asked for', async () => {
      await using bus = await open();
      await (await bus.subscribe('old.#', 'worker', async () => 'ack'))[Symbol.asyncDispose]();
      const inbox = createInbox();
      await bus.subscribe('new.#', 'worker', inbox.handler);
      await bus.publish('old.topic', note('old'));
      await bus.publish('new.topic', note('new'));
      await expect.poll(() => inbox.types).toEqual(['new']);
    });

    it('keeps the order of messages that are published without waiting', async () => {
      await using bus = await open();
      const inbox = createInbox();
      await bus.subscribe('job', 'worker', inbox.handler);
      const sent = Array.from({ length: 200 }, (_, index) => `n${index}`);
      await Promise.all(sent.map((type) => bus.publish('job', note(type))));
      await expect.poll(() => inbox.types.length).toBe(200);
      expect(inbox.types).toEqual(sent);
    });

    it('sends no more than the limit, and tells what the broker refuses', async () => {
      await using bus = await open({ maxMessageBytes: 1000 });
      const large = createEnvelope({ messageType: 'Large', source: 'test', body: 'x'.repeat(1000) });
      await expect(bus.publish('job', large)).rejects.toMatchObject({ code: 'message_invalid' });
      await expect(bus.publish('t'.repeat(256), note('long'))).rejects.toMatchObject({ code: 'message_invalid' });
      const conflicting = await raw.acquire();
      await conflicting.queueDeclare({ queue: `${prefix}.taken`, durable: true });
      await expect(bus.subscribe('job', 'taken', async () => 'ack')).rejects.toMatchObject({
        code: 'execution_failed',
        message: expect.stringContaining('PRECONDITION_FAILED'),
      });
      await conflicting.close();
      await bus.publish('job', note('fine'));
    });

    it('is counted by the doctor', async () => {
      await using bus = await open();
      const look = { url: broker.url, prefix, subscriptionName: 'worker', waitMs: 10_000, clock };
      const address = `amqp://127.0.0.1:${broker.port}`;
      expect(await probeBroker(look)).toEqual({ address, consumers: 0 });
      await bus.subscribe('job', 'worker', async () => 'ack');
      expect(await probeBroker(look)).toEqual({ address, consumers: 1 });
    });

    it('says that a password is wrong, and not which', async () => {
      const wrong = broker.url.replace(brokerPassword, 'hunter2');
      const look = probeBroker({ url: wrong, prefix, subscriptionName: 'worker', waitMs: 2000, clock });
      const problem = await look.catch((error: unknown) => error);
      expect(problem).toMatchObject({
        code: 'bus_unreachable',
        message: expect.stringContaining('ACCESS_REFUSED'),
      });
      expect(String(problem)).not.toContain('hunter2');
    });
  });

  describe('that loses its broker', () => {
    it('goes on where it was: nothing is lost, and nothing handled twice', async () => {
      const { log, lines } = createLines();
      await using bus = await open({ log });
      const gate = Promise.withResolvers<Verdict>();
      const slow = createInbox(({ messageType }) => (messageType === 'long' ? gate.promise : 'ack'));
      const replies = createInbox();
      await bus.subscribe('job', 'worker', slow.handler);
      await bus.subscribe('reply', 'us.replies', replies.handler, { perProcess: true });
      await bus.publish('job', note('long'));
      await bus.publish('job', note('behind'));
      await expect.poll(() => slow.types).toEqual(['long']);

      await broker.stop('SIGKILL');
      await expect.poll(() => bus.isConnected).toBe(false);
      // Published while nobody is there, and answered while the handler still runs.
      const published = Promise.all([bus.publish('job', note('meanwhile')), bus.publish('reply', note('answer'))]);
      await broker.start();
      await published;
      await expect.poll(() => replies.types, { timeout: 10_000 }).toEqual(['answer']);
      gate.resolve('ack');
      // What waited in the broker may come behind what was published meanwhile.
      await expect.poll(() => slow.types.toSorted(), { timeout: 10_000 }).toEqual(['behind', 'long', 'meanwhile']);
      expect(bus.isConnected).toBe(true);
      const text = lines.join('\n');
      expect(text).toMatch(/connection to the broker failed.*connected to the broker/s);
      expect(text).not.toContain(brokerPassword);
    });
  });
});

describe('a bus whose broker cannot be reached', () => {
  const openTo = (url: string, log: Log = silentLog): Promise<RabbitBus> =>
    createRabbitBus({ url, agent: 'test', clock, log, waitMs: 400, retryMs });
  let url: string;
  beforeEach(async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await once(server.close(), 'close');
    url = `amqp://someone:hunter2@127.0.0.1:${port}`;
  });

  it('waits for a while, then says what to do, and nothing of the password', async () => {
    const { log, lines } = createLines();
    await using bus = await openTo(url, log);
    const begun = clock.elapsedMs();
    const failures = await Promise.allSettled([
      bus.publish('job', note('lost')),
      bus.subscribe('job', 'worker', async () => 'ack'),
    ]);
    expect(clock.elapsedMs() - begun).toBeGreaterThan(390);
    for (const failure of failures)
      expect(failure).toMatchObject({
        reason: {
          code: 'bus_unreachable',
          retry: 'later',
          message: expect.stringMatching(/ECONNREFUSED.*gantry doctor/),
        },
      });
    expect(JSON.stringify([failures, lines, bus.address])).not.toContain('hunter2');
  });

  it('ends at once when it is disposed of, and gives up what waits', async () => {
    const bus = await createRabbitBus({ url, agent: 'test', clock, log: silentLog });
    const waiting = expect(bus.publish('job', note('lost'))).rejects.toMatchObject({ code: 'stopped' });
    await bus[Symbol.asyncDispose]();
    await waiting;
    await expect(bus.publish('job', note('late'))).rejects.toMatchObject({ code: 'stopped' });
  });

  it('does not wait for ever on something that takes connections and is silent', async () => {
    const silent = createServer((socket) => void socket.resume()).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const bus = await openTo(`amqp://127.0.0.1:${(silent.address() as AddressInfo).port}`);
    await expect(bus.publish('job', note('lost'))).rejects.toMatchObject({ code: 'bus_unreachable' });
    await bus[Symbol.asyncDispose]();
    await once(silent.close(), 'close');
  });

  it('names the package that is missing, and the command that installs it', () => {
    const without = `import { registerHooks } from 'node:module';
      registerHooks({ resolve: (name, context, next) => {
        if (name === 'rabbitmq-client') throw new Error('Cannot find package');
        return next(name, context);
      } });`;
    const file = new URL('../packages/gantry/src/bus/rabbitmq/create-rabbit-bus.ts', import.meta.url).href;
    const script = `const { createRabbitBus } = await import(${JSON.stringify(file)});
      await createRabbitBus({ url: 'amqp://mq' }).catch(({ code, message }) => console.log(code, message));`;
    const hook = `data:text/javascript,${encodeURIComponent(without)}`;
    const args = ['--conditions=gantry-source', '--import', hook, '--input-type=module', '-e', script];
    expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe(
      'package_missing A bus over RabbitMQ needs rabbitmq-client; run "npm install rabbitmq-client".\n',
    );
  });
});
