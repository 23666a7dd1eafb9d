import { expect, it } from 'vitest';
import type { Envelope } from '../../bus/envelope.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { createInProcessBus } from '../../bus/in-process-bus.ts';
import { topics } from '../../bus/topics.ts';
import { silentLog } from '../../kernel/log.ts';
import type { Outcome } from '../../tool/outcome.ts';
import type { InvokeHandlerOptions } from './invoke-handler.ts';
import { serveInvoke } from './invoke-handler.ts';

it.each<[string, InvokeHandlerOptions['callTool'], string]>([
  ['throws', () => Promise.reject(new Error('out of order')), 'out of order'],
  [
    'throws before it waits',
    () => {
      throw new Error('out of order');
    },
    'out of order',
  ],
  ['gives no outcome', async () => ({ status: 'failed' }) as Outcome, ''],
])('answers a call once, with an error, when running it %s', async (_what, callTool, message) => {
  await using bus = createInProcessBus({ log: silentLog });
  const askPeer = () => () => Promise.reject(new Error('nobody is asked here'));
  const patience = async (): Promise<void> => {};
  await using _served = await serveInvoke({ bus, agent: 'a', log: silentLog, callTool, askPeer, patience });
  const arrived = Promise.withResolvers<void>();
  const replies: Envelope[] = [];
  await bus.subscribe('replies', 'replies', async (reply) => {
    replies.push(reply);
    arrived.resolve();
    return 'ack';
  });
  await bus.publish(
    topics.mcpInvoke,
    createEnvelope({
      messageType: 'ToolInvokeRequest',
      source: 'test',
      body: { toolCallId: 'c1', toolName: 'echo' },
      correlationId: 'corr-1',
      replyTo: 'replies',
    }),
  );
  await arrived.promise;
  expect(replies).toMatchObject([
    {
      messageType: 'ToolError',
      correlationId: 'corr-1',
      body: { toolCallId: 'c1', code: 'execution_failed', message: expect.stringContaining(message) },
    },
  ]);
});
