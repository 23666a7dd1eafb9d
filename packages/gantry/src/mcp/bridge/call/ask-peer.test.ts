import { expect, it } from 'vitest';
import type { Envelope } from '../../../bus/envelope.ts';
import { createEnvelope } from '../../../bus/envelope.ts';
import { createInProcessBus } from '../../../bus/in-process-bus.ts';
import { topics } from '../../../bus/topics.ts';
import { silentLog } from '../../../kernel/log.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { createPeerAsker } from './ask-peer.ts';

const question = { method: 'roots/list', params: {} };
const never = new AbortController().signal;

/** An asker, and a caller that answers with `body`, or not at all. */
const open = async (body?: unknown) => {
  const bus = createInProcessBus({ log: silentLog });
  const clock = fakeClock();
  const asker = createPeerAsker({ bus, agent: 'main', maxTimeoutMs: 1_000, clock, log: silentLog });
  const heard = Promise.withResolvers<Envelope>();
  await bus.subscribe(topics.mcpPeerRequest, 'caller', async (request) => {
    heard.resolve(request);
    const { replyTo = '', correlationId } = request;
    if (body !== undefined)
      await bus.publish(
        replyTo,
        createEnvelope({ messageType: 'McpPeerResponse', source: 'caller', body, correlationId }),
      );
    return 'ack';
  });
  return { ask: asker.of('call-1'), asker, clock, heard: heard.promise };
};

it('asks whoever made a call, and gives what that answers', async () => {
  const { ask, heard } = await open({ result: { roots: [] } });
  expect(await ask(question, never)).toEqual({ roots: [] });
  expect(await heard).toMatchObject({
    messageType: 'McpPeerRequest',
    replyTo: 'mcp.peer.response',
    headers: { 'gantry-content-trust': 'tool-output' },
    body: { callId: 'call-1', method: 'roots/list', params: {} },
  });
});

it.each([
  ['an error', { error: { code: -1, message: 'the user\nsaid no' } }, 'the user said no'],
  ['what cannot be read', { roots: [] }, 'its answer cannot be read'],
])('fails with what it is told when the answer is %s', async (_what, body, reason) => {
  const { ask } = await open(body);
  await expect(ask(question, never)).rejects.toMatchObject({
    code: 'execution_failed',
    message: expect.stringContaining(reason) as unknown,
  });
});

it('waits as long as a call may take, until it is given up or the bridge stops', async () => {
  const { ask, asker, clock, heard } = await open();
  const ending = new AbortController();
  const expired = ask(question, never);
  const givenUp = ask(question, ending.signal);
  await heard;
  ending.abort();
  await expect(givenUp).rejects.toMatchObject({ code: 'cancelled' });
  const late = expect(expired).rejects.toMatchObject({ code: 'timeout' });
  await clock.advance(1_000);
  await late;
  const stopped = expect(ask(question, never)).rejects.toMatchObject({ code: 'stopped' });
  await asker[Symbol.asyncDispose]();
  await stopped;
});
