import { describe, expect, it } from 'vitest';
import type { Bus } from '../../bus/bus.ts';
import type { Envelope } from '../../bus/envelope.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { createInProcessBus } from '../../bus/in-process-bus.ts';
import { topics } from '../../bus/topics.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import { silentLog } from '../../kernel/log.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { CallContext, Progress } from '../../tool/context.ts';
import { toReply } from '../../tool/messages.ts';
import type { Outcome } from '../../tool/outcome.ts';
import { textOutcome } from '../../tool/outcome.ts';
import { toTypedTool } from './typed/typed-tool.ts';
import type { ToolProxyOptions } from './tool-proxy.ts';
import { createToolProxy } from './tool-proxy.ts';

const open = async (options: Partial<ToolProxyOptions> = {}) => {
  const bus = createInProcessBus({ log: silentLog });
  const clock = fakeClock();
  const proxy = createToolProxy({ bus, agent: 'main', log: silentLog, clock, ...options });
  const requests: Envelope[] = [];
  const arrived: PromiseWithResolvers<Envelope>[] = [Promise.withResolvers()];
  await bus.subscribe(topics.mcpInvoke, 'bridge', async (request) => {
    requests.push(request);
    arrived[0]?.resolve(request);
    return 'ack';
  });
  const cancels: Envelope[] = [];
  const cancelled = Promise.withResolvers<Envelope>();
  await bus.subscribe(topics.toolCancel, 'bridge-cancel', async (message) => {
    cancels.push(message);
    cancelled.resolve(message);
    return 'ack';
  });
  const call = (context: Partial<CallContext> = {}): Promise<Outcome> => {
    const { registration, executor } = toTypedTool(
      'wiki',
      { name: 'search.pages', inputSchema: { type: 'object' } },
      proxy.executor,
    );
    const prepared = { id: 'c1', name: registration.name, arguments: { q: 'x' }, registration };
    return executor.execute(prepared, { caller: 'model', ...context });
  };
  const answer = (request: Envelope, outcome: Outcome): Promise<void> => {
    const { type: messageType, body } = toReply(outcome, { id: 'c1', name: 'search.pages' });
    const { correlationId } = request;
    return bus.publish(request.replyTo ?? '', createEnvelope({ messageType, source: 'bridge', body, correlationId }));
  };
  const report = (request: Envelope, body: Progress): Promise<void> =>
    bus.publish(
      topics.toolProgressOf('main'),
      createEnvelope({ messageType: 'ToolProgress', source: 'bridge', body, correlationId: request.correlationId }),
    );
  const request = (): Promise<Envelope> => (arrived[0] as PromiseWithResolvers<Envelope>).promise;
  return { bus, clock, proxy, call, answer, report, request, requests, cancels, cancelled: cancelled.promise };
};

describe('createToolProxy', () => {
  it("asks the bridge for the server's own tool, with the caller's context, and gives its outcome", async () => {
    const { call, answer, request } = await open();
    const outcome = call({ namespace: 'session/1', tier: 'low', client: 'c', answersQuestions: true });
    const asked = await request();
    expect(asked).toMatchObject({
      messageType: 'ToolInvokeRequest',
      source: 'main',
      replyTo: 'tool.result.main',
      body: { toolCallId: 'c1', toolName: 'search.pages', arguments: { q: 'x' }, sessionId: 'session/1' },
      headers: {
        'gantry-caller': 'model',
        'gantry-session': 'session/1',
        'gantry-tier': 'low',
        'gantry-client': 'c',
        'gantry-mcp-handback': 'true',
        'gantry-mcp-server': 'wiki',
        'gantry-tool-provider': 'mcp',
        'gantry-content-trust': 'tool-request',
        'gantry-timeout-ms': '60000',
      },
    });
    await answer(asked, textOutcome('found'));
    expect(await outcome).toMatchObject({ status: 'done', parts: [{ type: 'text', text: 'found' }] });
  });

  it.each<{ came: string; outcome: Outcome }>([
    {
      came: 'a failure of the bridge',
      outcome: { status: 'failed', failure: { code: 'auth_required', message: 'sign in', retry: 'never' } },
    },
    {
      came: 'a parked call',
      outcome: { status: 'parked', handle: { kind: 'task', id: 't', expiresAt: '2026-01-01T00:00:00Z' }, parts: [] },
    },
  ])('gives $came as it is', async ({ outcome }) => {
    const { call, answer, request } = await open();
    const result = call();
    await answer(await request(), outcome);
    expect(await result).toEqual(outcome);
  });

  it('keeps the time itself, so that the invoker sets no deadline', async () => {
    const { proxy } = await open();
    expect(proxy.executor.timeoutMs).toBe(0);
  });

  it('fails with a time-out, and tells the bridge, when no answer comes within the response wait', async () => {
    const { call, clock, request, cancelled } = await open();
    const outcome = call();
    const refused = expect(outcome).rejects.toMatchObject({
      code: 'timeout',
      message: 'Tool "search.pages" of server "wiki" gave no result within 930000 ms.',
    });
    const { correlationId } = await request();
    await clock.advance(930_000);
    await refused;
    expect((await cancelled).correlationId).toBe(correlationId);
  });

  it('raises a response wait that is shorter than the budget of the call, with a warning', async () => {
    const warnings: string[] = [];
    const log: Log = { ...silentLog, warn: (_facts, message) => warnings.push(message) };
    const { call, clock, request } = await open({ responseWaitMs: 1_000, requestTimeoutMs: 5_000, log });
    const outcome = call();
    const refused = expect(outcome).rejects.toMatchObject({ code: 'timeout', details: { timeoutMs: 5_000 } });
    expect((await request()).headers['gantry-timeout-ms']).toBe('5000');
    await clock.advance(5_000);
    await refused;
    expect(warnings).toHaveLength(1);
  });

  it('ends a call at the time that its caller gave, whatever progress comes, and tells the bridge', async () => {
    const { call, clock, report, request, cancelled } = await open();
    const seen = Promise.withResolvers<Progress>();
    const outcome = call({ timeoutMs: 5_000, onProgress: seen.resolve });
    const refused = expect(outcome).rejects.toMatchObject({ code: 'timeout', details: { timeoutMs: 5_000 } });
    const asked = await request();
    await clock.advance(4_999);
    await report(asked, { progress: 1 });
    await seen.promise;
    await clock.advance(1);
    await refused;
    expect((await cancelled).correlationId).toBe(asked.correlationId);
  });

  it('tells the bridge when the caller gives up, and rejects with the reason', async () => {
    const { call, request, cancelled } = await open();
    const controller = new AbortController();
    const outcome = call({ signal: controller.signal });
    const { correlationId } = await request();
    const refused = expect(outcome).rejects.toMatchObject({ code: 'cancelled' });
    controller.abort();
    await refused;
    expect(await cancelled).toMatchObject({ messageType: 'ToolCancel', correlationId });
  });

  it('sends no cancellation for a call that was answered', async () => {
    const { call, answer, request, cancels, bus } = await open();
    const controller = new AbortController();
    const outcome = call({ signal: controller.signal });
    await answer(await request(), textOutcome('x'));
    await outcome;
    controller.abort();
    await bus[Symbol.asyncDispose]();
    expect(cancels).toEqual([]);
  });

  it('hands progress to the call it belongs to', async () => {
    const { call, answer, report, request } = await open();
    const seen = Promise.withResolvers<Progress>();
    const outcome = call({ onProgress: seen.resolve });
    const asked = await request();
    await report({ ...asked, correlationId: 'another' }, { progress: 1 });
    await report(asked, { progress: 2, total: 3 });
    expect(await seen.promise).toEqual({ progress: 2, total: 3 });
    await answer(asked, textOutcome('x'));
    expect(await outcome).toMatchObject({ status: 'done' });
  });

  it('refuses an answer of an unknown kind', async () => {
    const { bus, call, request } = await open();
    const outcome = call();
    const asked = await request();
    const refused = expect(outcome).rejects.toSatisfy(GantryError.is);
    const { correlationId, replyTo = '' } = asked;
    await bus.publish(replyTo, createEnvelope({ messageType: 'Odd', source: 'b', body: {}, correlationId }));
    await refused;
  });
});

describe('a call whose caller can be asked', () => {
  const question = { method: 'roots/list', params: {} };
  const asks = { roots: {} };
  const askOver = async (bus: Bus, callId: string | undefined): Promise<Envelope> => {
    const answered = Promise.withResolvers<Envelope>();
    await bus.subscribe('answers', 'answers', async (answer) => {
      answered.resolve(answer);
      return 'ack';
    });
    const body = { callId, ...question };
    const { mcpPeerRequest } = topics;
    await bus.publish(
      mcpPeerRequest,
      createEnvelope({ messageType: 'McpPeerRequest', source: 'bridge', body, correlationId: 'q', replyTo: 'answers' }),
    );
    return await answered.promise;
  };

  it('asks it what the server asks in this call, and gives back its answer', async () => {
    const { bus, call, answer, request } = await open();
    const outcome = call({ caller: 'client', asks, onAsked: async ({ method }) => ({ asked: method }) });
    const sent = await request();
    expect(sent.headers['gantry-mcp-asks']).toBe('{"roots":{}}');
    expect(await askOver(bus, sent.correlationId)).toMatchObject({
      messageType: 'McpPeerResponse',
      correlationId: 'q',
      headers: { 'gantry-content-trust': 'user-input' },
      body: { result: { asked: 'roots/list' } },
    });
    await answer(sent, textOutcome('found'));
    expect(await outcome).toEqual(textOutcome('found'));
  });

  it('gives back why there is no answer', async () => {
    const { bus, call, request } = await open();
    void call({ caller: 'client', asks, onAsked: () => Promise.reject(new Error('not now')) });
    const { correlationId } = await request();
    expect(await askOver(bus, correlationId)).toMatchObject({ body: { error: { message: 'not now' } } });
  });

  it('takes the question back when the call ends', async () => {
    const { bus, call, answer, request } = await open();
    const takenBack = Promise.withResolvers<void>();
    const onAsked = (_question: unknown, signal: AbortSignal): Promise<never> => {
      signal.addEventListener('abort', () => takenBack.resolve());
      return new Promise(() => {});
    };
    const outcome = call({ caller: 'client', asks, onAsked });
    const sent = await request();
    void askOver(bus, sent.correlationId);
    await answer(sent, textOutcome('found'));
    await outcome;
    await takenBack.promise;
  });

  it('does not say so when nobody here could be asked', async () => {
    const { call, request } = await open();
    void call({ caller: 'client', asks });
    expect((await request()).headers).not.toHaveProperty('gantry-mcp-asks');
  });
});
