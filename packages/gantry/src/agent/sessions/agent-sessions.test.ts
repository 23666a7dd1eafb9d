import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { silentLog } from '../../kernel/log.ts';
import type { ConversationLog } from '../../memory/conversation-log.ts';
import { createConversationLog } from '../../memory/conversation-log.ts';
import { openSqliteStore } from '../../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../store/store.ts';
import type { FakeClock } from '../../testing/fake-clock.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { testKeyring } from '../../testing/test-keyring.ts';
import type { LoopResult, LoopRun } from '../loop/loop-run.ts';
import { createTierModels } from '../models/tier-models.ts';
import type { AgentSessions } from './agent-sessions.ts';
import { createAgentSessions } from './agent-sessions.ts';
import type { SessionEvent } from './session-events.ts';

let clock: FakeClock;
let store: Store;
let conversations: ConversationLog;
let sessions: AgentSessions;
let runs: LoopRun[];
let answer: (run: LoopRun) => Promise<LoopResult>;
let others: unknown[];
let letGo: string[];

const result = (text: string): LoopResult => ({
  text,
  steps: [],
  endedBy: 'answer',
  tier: 'balanced',
  model: 'm',
  usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
});
const untilAborted = ({ signal }: LoopRun): Promise<never> =>
  new Promise((_resolve, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail);
  });
const lastOf = ({ messages }: LoopRun): string => {
  const content = messages.at(-1)?.content;
  return typeof content === 'string' ? content : '';
};
const create = (hasModel = true): AgentSessions =>
  createAgentSessions({
    models: createTierModels({
      models: hasModel
        ? { balanced: { provider: 'openai-compatible', endpoint: 'http://127.0.0.1:9/v1', modelId: 'm' } }
        : {},
      env: {},
    }),
    runLoop: (run) => {
      runs.push(run);
      return answer(run);
    },
    conversations,
    store,
    context: { clock, log: silentLog, timeZone: () => 'UTC', memory: { list: async () => [] } },
    systemPrompt: 'You are a test.',
    thresholds: { low: 0.15, balanced: 0.46 },
    maxContextTurns: 20,
    persistErrorTurns: true,
    notifyOther: async (notice) => void others.push(notice),
    letGo: async (namespace) => void letGo.push(`${namespace}, ${(await turns()).length} turns`),
    clock,
    log: silentLog,
  });

beforeEach(async () => {
  clock = fakeClock();
  store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  conversations = createConversationLog({ store, clock });
  runs = [];
  others = [];
  letGo = [];
  answer = async (run) => result(`answer to ${lastOf(run).split('\n').at(-1)}`);
  sessions = create();
});
afterEach(async () => {
  await sessions[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
});

/** Resolves with the first event of a type in a session. */
const next = (type: SessionEvent['type'], sessionId = 's1'): Promise<SessionEvent> =>
  new Promise((resolve) => {
    const stop = sessions.subscribe(sessionId, (event) => {
      if (event.type !== type) return;
      stop();
      resolve(event);
    });
  });
const turns = async (sessionId = 's1'): Promise<string[]> =>
  (await sessions.turns(sessionId, 99)).map(
    (turn) => `${turn.role === 'user' ? turn.origin : turn.status}: ${turn.text}`,
  );

describe('a message', () => {
  it('is answered, and both are on record', async () => {
    expect(await sessions.send({ sessionId: 's1', text: 'hi' })).toMatchObject({
      reply: 'answer to hi',
      status: 'done',
    });
    expect(await turns()).toEqual(['person: hi', 'done: answer to hi']);
    expect(runs[0]).toMatchObject({ namespace: 'session/s1', systemPrompt: 'You are a test.' });
    expect(runs[0]?.systemTail?.()).toContain('1 January 2026');
  });

  it('tells its turn what the platform lets the agent do there', async () => {
    const permissions = { granted: ['SEND_MESSAGES'], isThread: true };
    const permissionsOf = ({ context }: LoopRun) => context?.permissions;
    await sessions.send({ sessionId: 's1', text: 'hi', permissions });
    await sessions.send({ sessionId: 's2', text: 'hi from a terminal' });
    expect(runs.map(permissionsOf)).toEqual([permissions, undefined]);
    // Also in the turn that it makes itself when a result comes late.
    const told = next('turn-end');
    await sessions.notify({ namespace: 'session/s1', kind: 'task', text: 'It is done.' });
    await told;
    expect(permissionsOf(runs.at(-1)!)).toEqual(permissions);
  });

  it('is answered with what was said before', async () => {
    await sessions.send({ sessionId: 's1', text: 'one' });
    await sessions.send({ sessionId: 's1', text: 'two' });
    expect(runs[1]?.messages.slice(0, 2)).toEqual([
      { role: 'user', content: 'one' },
      { role: 'assistant', content: 'answer to one' },
    ]);
    await sessions.send({ sessionId: 's2', text: 'three' });
    expect(runs[2]?.messages).toHaveLength(1);
  });

  it('is on record before anything runs, and what runs as soon as it begins', async () => {
    answer = async (run) => {
      expect(await turns()).toEqual(['person: go']);
      await run.onSteps?.([{ text: '', calls: [{ id: 'c', name: 'x', arguments: {}, status: 'running' }] }]);
      expect(await turns()).toEqual(['person: go', 'running: ']);
      return result('done');
    };
    await sessions.send({ sessionId: 's1', text: 'go' });
    expect(await turns()).toEqual(['person: go', 'done: done']);
  });

  it('takes the place of the one that is being answered; other sessions go on', async () => {
    answer = (run) => (lastOf(run).endsWith('one') ? untilAborted(run) : Promise.resolve(result('for both')));
    const other = sessions.send({ sessionId: 's2', text: 'one' });
    const first = sessions.send({ sessionId: 's1', text: 'one' });
    await next('turn-start');
    const second = await sessions.send({ sessionId: 's1', text: 'two' });
    expect(second.reply).toBe('for both');
    expect(await first).toMatchObject({ status: 'superseded', reply: '' });
    expect(await turns()).toEqual(['person: one', 'person: two', 'done: for both']);
    expect(runs.find((run) => run.namespace === 'session/s2')?.signal.aborted).toBe(false);
    expect(await sessions.interrupt('s2')).toBe(true);
    await expect(other).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('ends the turn of another process on the store, and is answered together with it', async () => {
    await using elsewhere = create();
    answer = (run) => (lastOf(run).includes('one') ? untilAborted(run) : Promise.resolve(result('for both')));
    const first = sessions.send({ sessionId: 's1', text: 'one' });
    await next('turn-start');
    const second = elsewhere.send({ sessionId: 's1', text: 'two' });
    await clock.advance(2_000);
    expect(await second).toMatchObject({ status: 'done', reply: 'for both' });
    expect(await first).toMatchObject({ status: 'superseded', reply: '' });
    expect(await turns()).toEqual(['person: one', 'person: two', 'done: for both']);
  });

  it('says that it waits for another process, which may have died', async () => {
    expect(await store.leases.acquire('session/s1', 'dead', 15_000)).toBeDefined();
    const waits = next('waiting');
    const sent = sessions.send({ sessionId: 's1', text: 'hi' });
    expect(await waits).toMatchObject({ reason: expect.stringContaining('another process') });
    for (let second = 0; second < 16; second += 1) await clock.advance(1_000);
    expect(await sent).toMatchObject({ status: 'done' });
  });

  it('is interrupted from another process on the store, and nothing else is', async () => {
    await using elsewhere = create();
    answer = untilAborted;
    const running = sessions.send({ sessionId: 's1', text: 'hi' });
    const ended = expect(running).rejects.toMatchObject({ code: 'cancelled', message: 'The turn was stopped.' });
    await next('turn-start');
    expect(await elsewhere.interrupt('s2')).toBe(false);
    const interrupted = elsewhere.interrupt('s1');
    await clock.advance(1_000);
    expect(await interrupted).toBe(true);
    await ended;
    expect(await elsewhere.interrupt('s1')).toBe(false);
  });

  it('that fails is answered with the reason, once, and the failure is on record', async () => {
    const events: string[] = [];
    sessions.subscribe('s1', ({ type }) => void events.push(type));
    answer = () => Promise.reject(new GantryError('model_failed', 'the model is broken'));
    await expect(sessions.send({ sessionId: 's1', text: 'hi' })).rejects.toMatchObject({ code: 'model_failed' });
    expect(await turns()).toEqual(['person: hi', 'failed: the model is broken']);
    expect(events).toEqual(['turn-start', 'turn-failed']);
  });

  it('that is stopped keeps what was said so far', async () => {
    const stop = new AbortController();
    answer = (run) => {
      run.onEvent?.({ type: 'text', text: 'so far' });
      stop.abort();
      return untilAborted(run);
    };
    await expect(sessions.send({ sessionId: 's1', text: 'hi', signal: stop.signal })).rejects.toBeDefined();
    expect(await turns()).toEqual(['person: hi', 'stopped: so far']);
  });

  it.each([
    ['a/b', 'hi'],
    ['', 'hi'],
    ['s1', '  '],
    ['s1', 'x'.repeat(400_001)],
  ])('to %j is refused when it makes no sense (%#)', async (sessionId, text) => {
    await expect(sessions.send({ sessionId, text })).rejects.toMatchObject({ code: 'invalid_arguments' });
    expect(runs).toEqual([]);
  });

  it('without a model leaves no trace', async () => {
    const none = create(false);
    await expect(none.send({ sessionId: 's1', text: 'hi' })).rejects.toMatchObject({ code: 'model_missing' });
    expect(await turns()).toEqual([]);
    await none[Symbol.asyncDispose]();
  });

  it('of a named tier stays on it; else the message decides', async () => {
    await sessions.send({ sessionId: 's1', text: 'hi', tier: 'high' });
    await sessions.send({ sessionId: 's1', text: 'hi' });
    expect(runs.map(({ tier, isTierPinned }) => [tier, isTierPinned])).toEqual([
      ['high', true],
      ['low', false],
    ]);
  });
});

describe('a result that comes late', () => {
  const late = { namespace: 'session/s1', kind: 'task', text: 'Task t_1 has finished.' } as const;

  it('becomes a turn that the agent answers, and is never the user’s word', async () => {
    await sessions.send({ sessionId: 's1', text: 'start it' });
    const said = (await conversations.lastUserTurn('session/s1'))?.text;
    const ended = next('turn-end');
    await sessions.notify(late);
    expect((await turns()).at(-1)).toBe('notice: Task t_1 has finished.');
    expect(await ended).toMatchObject({ reply: expect.stringContaining('answer to') });
    expect(lastOf(runs[1]!)).toContain('[Notice of the system, not from the user] Task t_1 has finished.');
    expect((await conversations.lastUserTurn('session/s1'))?.text).toBe(said);
  });

  it('waits for the turn that runs', async () => {
    const held = Promise.withResolvers<LoopResult>();
    answer = () => (runs.length === 1 ? held.promise : Promise.resolve(result('told')));
    const running = sessions.send({ sessionId: 's1', text: 'go' });
    await next('turn-start');
    await sessions.notify(late);
    expect(runs).toHaveLength(1);
    const told = next('turn-start');
    held.resolve(result('went'));
    await running;
    expect(await told).toMatchObject({ origin: 'notice' });
  });

  it('is told once, however often it is announced', async () => {
    const ended = next('turn-end');
    await sessions.notify(late);
    await ended;
    await sessions.notify(late);
    expect((await turns()).filter((turn) => turn.startsWith('notice'))).toHaveLength(1);
  });

  it('is answered after a crash that came between its record and the answer', async () => {
    answer = () => Promise.reject(new GantryError('stopped', 'the process ends'));
    const failed = next('turn-failed');
    await sessions.notify(late);
    await failed;
    await sessions[Symbol.asyncDispose]();
    answer = async () => result('told at last');
    sessions = create();
    const ended = next('turn-end');
    await sessions.notify(late);
    expect(await ended).toMatchObject({ reply: 'told at last' });
    expect((await turns()).filter((turn) => turn.startsWith('notice'))).toHaveLength(1);
  });

  it('is not answered when it only says that a restart interrupted a call', async () => {
    const heard = next('notice');
    await sessions.notify({ ...late, kind: 'interrupted' });
    expect(await heard).toEqual({ type: 'notice', text: late.text });
    expect(runs).toEqual([]);
    expect(await turns()).toEqual(['notice: Task t_1 has finished.']);
  });

  it('goes elsewhere when it is not for a conversation', async () => {
    await sessions.notify({ ...late, namespace: 'subagent/x' });
    expect(others).toEqual([{ ...late, namespace: 'subagent/x' }]);
  });
});

describe('a conversation that is forgotten', () => {
  const late = { namespace: 'session/s1', kind: 'task', text: 'Task t_1 has finished.' } as const;

  it('ends its turn and what it has set going first, and nothing of it comes back', async () => {
    answer = untilAborted;
    const running = sessions.send({ sessionId: 's1', text: 'hi' });
    const ended = expect(running).rejects.toMatchObject({
      code: 'cancelled',
      message: expect.stringContaining('forgotten'),
    });
    await next('turn-start');
    await sessions.notify(late);
    expect(await sessions.forget('s1')).toBe(true);
    await ended;
    expect(letGo).toEqual(['session/s1, 3 turns']);
    expect(runs).toHaveLength(1);
    await sessions.notify({ ...late, text: 'Task t_2 has finished.' });
    expect(await turns()).toEqual([]);
    expect(await sessions.list()).toEqual([]);
    expect(await sessions.forget('s1')).toBe(false);
  });

  it('begins anew with the next message, and is told things again', async () => {
    await sessions.send({ sessionId: 's1', text: 'hi' });
    await sessions.forget('s1');
    await sessions.send({ sessionId: 's1', text: 'again' });
    expect(runs[1]?.messages).toHaveLength(1);
    const ended = next('turn-end');
    await sessions.notify(late);
    await ended;
    expect(await turns()).toHaveLength(4);
  });

  it('ends its turn in another process too', async () => {
    await using elsewhere = create();
    answer = untilAborted;
    const running = sessions.send({ sessionId: 's1', text: 'hi' });
    const ended = expect(running).rejects.toMatchObject({ code: 'cancelled' });
    await next('turn-start');
    const forgotten = elsewhere.forget('s1');
    await clock.advance(1_000);
    expect(await forgotten).toBe(true);
    await ended;
  });
});

describe('a scheduled run', () => {
  const task = () => ({
    taskName: 'mail',
    description: 'Check mail',
    isSystemTask: false,
    namespace: 'patrol/mail',
    scheduledAtMs: clock.nowMs(),
    signal: new AbortController().signal,
  });

  it('is a turn of its own, with its own conversation', async () => {
    expect(await sessions.runTask({ ...task(), note: 'It comes late.' })).toMatchObject({ status: 'done' });
    expect(lastOf(runs[0]!)).toContain('[Scheduled task, not from the user] Check mail\n\nIt comes late.');
    expect(runs[0]).toMatchObject({ namespace: 'patrol/mail', context: { receivesLateResults: false } });
    expect(await sessions.list()).toEqual([]);
  });

  it('finds the agent busy while a user is answered', async () => {
    answer = untilAborted;
    const running = sessions.send({ sessionId: 's1', text: 'hi' });
    expect(await sessions.runTask(task())).toEqual({ status: 'busy' });
    await next('turn-start');
    expect(await sessions.interrupt('s1')).toBe(true);
    await expect(running).rejects.toBeDefined();
  });

  it('makes way for a user, and is to be tried again', async () => {
    const started = Promise.withResolvers<void>();
    answer = (run) => {
      if (!run.namespace.startsWith('patrol')) return Promise.resolve(result('hello'));
      started.resolve();
      return untilAborted(run);
    };
    const running = sessions.runTask(task());
    await started.promise;
    await sessions.send({ sessionId: 's1', text: 'hi' });
    expect(await running).toEqual({ status: 'busy' });
  });
});
