import { expect, it } from 'vitest';
import { createEnvelope } from '../../bus/envelope.ts';
import { createInProcessBus } from '../../bus/in-process-bus.ts';
import { topics } from '../../bus/topics.ts';
import { systemClock } from '../../kernel/clock.ts';
import { silentLog } from '../../kernel/log.ts';
import { makeInvoker } from '../../testing/make-invoker.ts';
import { createGuideShelf } from '../../tool/guide.ts';
import { toReply } from '../../tool/messages.ts';
import { textOutcome } from '../../tool/outcome.ts';
import { createToolRegistry } from '../../tool/registry.ts';
import { announce, summary } from './__fixtures__/announce.ts';
import { createMcpTools } from './mcp-tools.ts';

it('makes tools of announced servers that the invoker runs through the bridge, until it is disposed', async () => {
  const bus = createInProcessBus({ log: silentLog });
  const registry = createToolRegistry();
  const guides = createGuideShelf();
  const tools = await createMcpTools({ bus, agent: 'main', registry, guides, clock: systemClock, log: silentLog });
  await bus.subscribe(topics.mcpManage, 'bridge-manage', async ({ correlationId, replyTo = '' }) => {
    const inputSchema = { type: 'object', properties: { n: { type: 'number' } } };
    const body = { server: { name: 's', id: 'i' }, tools: [{ name: 'double', inputSchema }], prompts: [] };
    const messageType = 'McpServiceDetails';
    await bus.publish(replyTo, createEnvelope({ messageType, source: 'bridge', body, correlationId }));
    return 'ack';
  });
  await bus.subscribe(topics.mcpInvoke, 'bridge-invoke', async ({ correlationId, replyTo = '', body }) => {
    const { n } = (body as { arguments: { n: number } }).arguments;
    const reply = toReply(textOutcome(String(n * 2)), { id: '1', name: 'double' });
    const { type: messageType, body: answer } = reply;
    await bus.publish(replyTo, createEnvelope({ messageType, source: 'bridge', body: answer, correlationId }));
    return 'ack';
  });

  await announce(bus, tools.index, { servers: [summary('s', { toolCount: 1 })] });
  const outcome = await makeInvoker(registry).invoke(
    { name: 's__double', arguments: '{"n":"21"}' },
    { caller: 'model' },
  );
  expect(outcome).toMatchObject({ status: 'done', parts: [{ type: 'text', text: '42' }] });
  expect(guides.find('mcp')?.getDocument()).toContain('- s (1 tools)');

  await tools[Symbol.asyncDispose]();
  expect(registry.getTools()).toEqual([]);
});
