import {
  type Attributes,
  context,
  type Context,
  type ContextManager,
  createNoopMeter,
  type Meter,
  ROOT_CONTEXT,
  trace,
} from '@opentelemetry/api';
import { AsyncLocalStorage } from 'node:async_hooks';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../kernel/log.ts';
import { busContract } from '../testing/contracts/bus-contract.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { createEnvelope, type Envelope } from './envelope.ts';
import { createInProcessBus } from './in-process-bus.ts';
import { parseTraceHeaders } from './trace.ts';
import { withBusTelemetry } from './with-bus-telemetry.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const note = createEnvelope({ messageType: 'note', source: 'test', body: 1 });

const createRecordingMeter = () => {
  const records: [string, number, Attributes | undefined][] = [];
  const instrument = (name: string) => {
    const write = (value: number, attributes?: Attributes): void => void records.push([name, value, attributes]);
    return { add: write, record: write };
  };
  const meter: Meter = {
    ...createNoopMeter(),
    createCounter: instrument,
    createHistogram: instrument,
    createUpDownCounter: instrument,
  };
  return { meter, records };
};

const open = () => {
  const clock = fakeClock();
  const { meter, records } = createRecordingMeter();
  return { clock, records, bus: withBusTelemetry(createInProcessBus({ log: silentLog }), { meter, clock }) };
};

describe('withBusTelemetry', () => {
  busContract(async () => open().bus);

  it('measures publishing and handling', async () => {
    const { bus, clock, records } = open();
    const begun = Promise.withResolvers<void>();
    const gate = Promise.withResolvers<void>();
    const subscription = await bus.subscribe('note', 'reader', async () => {
      begun.resolve();
      await gate.promise;
      return 'dead-letter';
    });
    await bus.publish('note', note);
    await begun.promise;
    await clock.advance(25);
    gate.resolve();
    await subscription[Symbol.asyncDispose]();
    const destination = 'note';
    expect(records.toSorted(([a, x], [b, y]) => a.localeCompare(b) || x - y)).toEqual([
      ['gantry.messaging.active_messages', -1, { destination }],
      ['gantry.messaging.active_messages', 1, { destination }],
      ['gantry.messaging.process.duration', 25, { destination, result: 'dead-letter' }],
      ['gantry.messaging.process.messages', 1, { destination, result: 'dead-letter' }],
      ['gantry.messaging.publish.duration', 0, { destination }],
      ['gantry.messaging.publish.messages', 1, { destination }],
    ]);
  });

  it('counts a handler that throws as an error', async () => {
    const { bus, records } = open();
    const begun = Promise.withResolvers<void>();
    const subscription = await bus.subscribe('note', 'reader', () => {
      begun.resolve();
      throw new Error('broken');
    });
    await bus.publish('note', note);
    await begun.promise;
    await subscription[Symbol.asyncDispose]();
    expect(records).toContainEqual(['gantry.messaging.process.messages', 1, { destination: 'note', result: 'error' }]);
  });

  describe('with a context manager', () => {
    beforeEach(() => void context.setGlobalContextManager(createContextManager()));
    afterEach(() => context.disable());

    const receive = async (publish: (bus: ReturnType<typeof open>['bus']) => Promise<void>) => {
      const { bus } = open();
      const arrived = Promise.withResolvers<{ envelope: Envelope; active: string | undefined }>();
      await bus.subscribe('note', 'reader', async (envelope) => {
        arrived.resolve({ envelope, active: trace.getSpanContext(context.active())?.spanId });
        return 'ack';
      });
      await publish(bus);
      return arrived.promise;
    };

    it('carries the active span to the handler', async () => {
      const active = parseTraceHeaders({ traceparent });
      const received = await receive((bus) => context.with(active, () => bus.publish('note', note)));
      expect(received.envelope.headers).toEqual({ traceparent });
      expect(received.active).toBe('b7ad6b7169203331');
    });

    it('leaves a trace that the message has', async () => {
      const own = traceparent.replace('b7ad', 'ffff');
      const message = createEnvelope({ messageType: 'note', source: 'test', body: 1, headers: { traceparent: own } });
      const active = parseTraceHeaders({ traceparent });
      const received = await receive((bus) => context.with(active, () => bus.publish('note', message)));
      expect(received.envelope.headers).toEqual({ traceparent: own });
      expect(received.active).toBe('ffff6b7169203331');
    });

    it('adds nothing without an active span', async () => {
      const received = await receive((bus) => bus.publish('note', note));
      expect(received).toEqual({ envelope: note, active: undefined });
    });
  });
});

/** The least that makes `context.with` work across awaits. */
const createContextManager = (): ContextManager => {
  const storage = new AsyncLocalStorage<Context>();
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, run, thisArgument, ...rest) => storage.run(active, () => run.apply(thisArgument, rest)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  };
  return manager;
};
