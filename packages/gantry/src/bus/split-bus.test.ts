import { describe, expect, it } from 'vitest';
import { silentLog as log } from '../kernel/log.ts';
import { busContract } from '../testing/contracts/bus-contract.ts';
import type { Bus } from './bus.ts';
import { createEnvelope } from './envelope.ts';
import { createInProcessBus } from './in-process-bus.ts';
import { createSplitBus } from './split-bus.ts';

const envelope = createEnvelope({ messageType: 'note', source: 'test', body: {} });

const hear = async (bus: Bus, pattern: string, name = 'listener'): Promise<string[]> => {
  const heard: string[] = [];
  await bus.subscribe(pattern, name, async (_envelope, topic) => {
    heard.push(topic);
    return 'ack';
  });
  return heard;
};

const open = () => {
  const [local, shared] = [createInProcessBus({ log }), createInProcessBus({ log })];
  return { local, shared, bus: createSplitBus({ local, shared, families: new Set(['script', 'job']) }) };
};

describe('createSplitBus', () => {
  busContract(async () => open().bus);

  it('shares the topics of its families and keeps all others', async () => {
    const { bus, local, shared } = open();
    await using _bus = bus;
    const [near, far] = [await hear(local, '#'), await hear(shared, '#')];
    for (const topic of ['script.invoke', 'script', 'scripts.invoke', 'tool.invoke'])
      await bus.publish(topic, envelope);
    await expect
      .poll(() => [near, far])
      .toEqual([
        ['scripts.invoke', 'tool.invoke'],
        ['script.invoke', 'script'],
      ]);
  });

  it('subscribes where the topics are, and on both sides where the pattern fits both', async () => {
    const { bus, local, shared } = open();
    await using _bus = bus;
    const [scripts, tools, all] = [
      await hear(bus, 'script.*', 'scripts'),
      await hear(bus, 'tool.#', 'tools'),
      await hear(bus, '#', 'all'),
    ];
    await shared.publish('script.result', envelope);
    await shared.publish('tool.invoke', envelope);
    await local.publish('tool.invoke', envelope);
    await local.publish('script.result', envelope);
    await expect.poll(() => all.toSorted()).toEqual(['script.result', 'script.result', 'tool.invoke', 'tool.invoke']);
    expect([scripts, tools]).toEqual([['script.result'], ['tool.invoke']]);
  });

  it('leaves nothing behind when one side refuses a subscription', async () => {
    const { bus, shared, local } = open();
    await using _bus = bus;
    await hear(shared, 'other', 'name');
    await expect(hear(bus, '#', 'name')).rejects.toMatchObject({ code: 'subscription_conflict' });
    expect(await hear(local, 'free.again', 'name')).toEqual([]);
  });
});
