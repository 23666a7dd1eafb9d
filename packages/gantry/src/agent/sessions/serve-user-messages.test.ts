import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Bus } from '../../bus/bus.ts';
import type { Envelope } from '../../bus/envelope.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { createInProcessBus } from '../../bus/in-process-bus.ts';
import { GantryError } from '../../kernel/errors.ts';
import { silentLog } from '../../kernel/log.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { UserMessage } from './agent-sessions.ts';
import { serveUserMessages } from './serve-user-messages.ts';
import type { TurnReply } from './session-events.ts';

let bus: Bus;
let clock: FakeClock;
let serving: AsyncDisposable;
let replies: Envelope[];
let replied: () => void;
let answer: (message: UserMessage) => Promise<TurnReply>;

const done = (reply: string, status: TurnReply['status'] = 'done'): TurnReply => ({
  sessionId: 's1',
  reply,
  status,
  toolCalls: [],
  usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0 },
  model: 'm',
});
const send = (body: object, replyTo?: string): Promise<void> =>
  bus.publish(
    'user.message',
    createEnvelope({ messageType: 'UserMessage', source: 'proxy', correlationId: 'c1', replyTo, body }),
  );
const ask = { sessionId: 's1', userId: 'u1', content: 'hi' };

beforeEach(async () => {
  bus = createInProcessBus({ log: silentLog });
  clock = fakeClock();
  replies = [];
  replied = () => {};
  answer = async () => done('hello');
  await bus.subscribe('user.response', 'proxy', async (envelope) => {
    replies.push(envelope);
    replied();
    return 'ack';
  });
  serving = await serveUserMessages({
    bus,
    sessions: { send: (message) => answer(message) },
    agent: 'gantry',
    clock,
    log: silentLog,
    stopping: new AbortController().signal,
  });
});
afterEach(async () => {
  await serving[Symbol.asyncDispose]();
  await bus[Symbol.asyncDispose]();
});
const nextReply = (): Promise<void> => new Promise((resolve) => (replied = resolve));

describe('a message over the bus', () => {
  it('gets one final reply with its correlation id', async () => {
    const came = nextReply();
    await send(ask);
    await came;
    expect(replies).toMatchObject([
      {
        messageType: 'AgentReply',
        correlationId: 'c1',
        body: { content: 'hello', sessionId: 's1', agentName: 'gantry', isFinal: true },
      },
    ]);
  });

  it('is answered where its sender waits', async () => {
    const came = Promise.withResolvers<Envelope>();
    await bus.subscribe('user.response.web', 'web', async (envelope) => {
      came.resolve(envelope);
      return 'ack';
    });
    await send(ask, 'user.response.web');
    expect((await came.promise).body).toMatchObject({ content: 'hello' });
    expect(replies).toEqual([]);
  });

  it('that fails gets its final reply too', async () => {
    answer = () => Promise.reject(new GantryError('model_failed', 'the model is down'));
    const came = nextReply();
    await send(ask);
    await came;
    expect(replies).toMatchObject([
      { body: { isFinal: true, content: 'Sorry, this did not work: the model is down' } },
    ]);
  });

  it('that a newer one took the place of ends in silence', async () => {
    answer = async ({ text }) => (text === 'hi' ? done('', 'superseded') : done('for both'));
    const came = nextReply();
    await send(ask);
    await send({ ...ask, content: 'newer' });
    await came;
    expect(replies).toMatchObject([{ body: { content: 'for both' } }]);
  });

  it('is told how it goes, every five seconds at most', async () => {
    answer = async ({ onEvent }) => {
      const start = (name: string, args: object) =>
        onEvent?.({ type: 'tool-start', id: 'c', name, arguments: args as Record<string, string> });
      start('web_search', { query: 'too early' });
      await clock.advance(5_000);
      start('web_search', { query: 'x'.repeat(200) });
      start('web_search', { query: 'too soon' });
      await clock.advance(5_000);
      start('wiki__read', { page: 'a' });
      await clock.advance(5_000);
      onEvent?.({
        type: 'tool-end',
        id: 'c',
        name: 'slow',
        status: 'failed',
        durationMs: 1,
        result: 'Error: it timed out',
      });
      await clock.advance(5_000);
      onEvent?.({ type: 'still-working', iterations: 20 });
      return done('hello');
    };
    const came = Promise.withResolvers<void>();
    replied = () => {
      if (replies.length === 5) came.resolve();
    };
    await send(ask);
    await came.promise;
    expect(replies.map(({ body }) => body)).toMatchObject([
      { isFinal: false, content: expect.stringMatching(/^web_search x{79}……$/) },
      { isFinal: false, content: 'wiki/read…' },
      { isFinal: false, content: 'slow is taking too long; trying something else.' },
      { isFinal: false, content: 'Still working on it: 20 rounds of tool calls so far.' },
      { isFinal: true, content: 'hello' },
    ]);
  });

  it('that is none is not answered', async () => {
    await send({ sessionId: 's1' });
    const came = nextReply();
    await send(ask);
    await came;
    expect(replies).toHaveLength(1);
  });
});
