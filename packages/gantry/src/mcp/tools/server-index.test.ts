import { expect, it } from 'vitest';
import { createInProcessBus } from '../../bus/in-process-bus.ts';
import { silentLog } from '../../kernel/log.ts';
import { announce, summary } from './__fixtures__/announce.ts';
import { createServerIndex } from './server-index.ts';

const open = async () => {
  const bus = createInProcessBus({ log: silentLog });
  const index = await createServerIndex({ bus, agent: 'main', log: silentLog });
  return { bus, index };
};

it('holds the servers that were announced, by name, until they are removed', async () => {
  const { bus, index } = await open();
  await announce(bus, index, { servers: [summary('wiki'), summary('mail')] });
  expect(index.list().map(({ serverName }) => serverName)).toEqual(['mail', 'wiki']);
  await announce(bus, index, { servers: [summary('wiki', { summary: 'newer' })], removedServers: ['mail'] });
  expect(index.list().map(({ summary }) => summary)).toEqual(['newer']);
  expect(index.get('mail')).toBeUndefined();
});

it('lets every listener end before the next message is applied, also when one fails', async () => {
  const { bus, index } = await open();
  const seen: string[] = [];
  index.onMessage(() => Promise.reject(new Error('no')));
  index.onMessage(async ({ servers }) => {
    await Promise.resolve();
    seen.push(`${servers[0]?.serverName} of ${index.list().length}`);
  });
  const first = announce(bus, index, { servers: [summary('a')] });
  await Promise.all([first, announce(bus, index, { servers: [summary('b')] })]);
  expect(seen).toEqual(['a of 1', 'b of 2']);
});
