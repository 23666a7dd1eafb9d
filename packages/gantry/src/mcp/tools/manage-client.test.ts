import { expect, it } from 'vitest';
import { createEnvelope } from '../../bus/envelope.ts';
import { createInProcessBus } from '../../bus/in-process-bus.ts';
import { topics } from '../../bus/topics.ts';
import { silentLog } from '../../kernel/log.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { createManageClient } from './manage-client.ts';

const open = async (answer?: { messageType: string; body: unknown }) => {
  const bus = createInProcessBus({ log: silentLog });
  const clock = fakeClock();
  const asked = Promise.withResolvers<void>();
  await bus.subscribe(topics.mcpManage, 'bridge', async ({ correlationId, replyTo = '' }) => {
    asked.resolve();
    if (answer) await bus.publish(replyTo, createEnvelope({ ...answer, source: 'bridge', correlationId }));
    return 'ack';
  });
  const client = createManageClient({ bus, agent: 'main', log: silentLog, clock });
  return { client, clock, asked: asked.promise };
};

it('gives the details that the bridge answers', async () => {
  const body = { server: { name: 'a', id: 'i' }, tools: [], prompts: [] };
  const { client } = await open({ messageType: 'McpServiceDetails', body });
  expect(await client.details('a')).toEqual(body);
});

it("fails with the bridge's own words", async () => {
  const { client } = await open({ messageType: 'McpManageError', body: { error: 'it is down' } });
  await expect(client.details('a')).rejects.toMatchObject({
    code: 'execution_failed',
    message: 'Details of server "a": it is down',
  });
});

it('gives up after 30 s', async () => {
  const { client, clock, asked } = await open();
  const refused = expect(client.details('a')).rejects.toMatchObject({ code: 'timeout' });
  await asked;
  await clock.advance(30_000);
  await refused;
});
