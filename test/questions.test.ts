import { afterEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../packages/gantry/src/tool/outcome.ts';
import { outcomeText } from '../packages/gantry/src/tool/outcome-text.ts';
import { fakeClock } from '../packages/gantry/src/testing/fake-clock.ts';
import type { AskingServer } from './fixtures/asking-server.ts';
import { startAskingServer } from './fixtures/asking-server.ts';
import type { BridgeHarness, HarnessOptions } from './fixtures/bridge-harness.ts';
import { startBridge } from './fixtures/bridge-harness.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});

const handback = { mode: 'handback' };
const session = { caller: 'model', namespace: 'session/s1', answersQuestions: true } as const;

const start = async (
  entry: Readonly<Record<string, unknown>> = { elicitation: handback },
  options: HarnessOptions = {},
): Promise<{ server: AskingServer; bridge: BridgeHarness }> => {
  const server = open.use(await startAskingServer());
  const bridge = open.use(await startBridge({ asking: { id: 'a'.repeat(12), url: server.url, ...entry } }, options));
  await bridge.bridge.ready();
  return { server, bridge };
};

const questionId = (outcome: Outcome): string => {
  if (outcome.status !== 'parked') throw new Error(`not parked: ${outcomeText(outcome)}`);
  return outcome.handle.id;
};

const answer = async (
  bridge: BridgeHarness,
  ...args: Parameters<BridgeHarness['bridge']['questions']['answer']>
): Promise<Outcome> => (await bridge.bridge.questions.answer(...args)).outcome;

const agent = { kind: 'agent', session: 'session/s1' } as const;
const person = { kind: 'person' } as const;

describe('a question that is handed back', () => {
  it('ends the call with the question, and the answer lets it go on to its result', async () => {
    const { server, bridge } = await start();
    const asked = await bridge.call('asking', 'book', { show: 'Hamlet' }, { context: session });
    expect(asked).toMatchObject({
      status: 'parked',
      handle: { kind: 'question', id: expect.stringMatching(/^q_[0-9a-f]{32}$/) },
    });
    const id = questionId(asked);
    const text = outcomeText(asked);
    expect(text).toContain('Question: "How many seats?"');
    expect(text).toContain('- "seats" (integer, required, 1 to 9)');
    expect(text).toContain(`mcp_answer(question_id: "${id}", answers: {"seats": …})`);
    expect(text).toContain(`mcp_answer(question_id: "${id}", decline: true)`);
    expect(text).toContain('30 minutes');
    expect(server.done).toEqual([]);

    const outcome = await answer(bridge, id, { answers: { SEATS: 4 } }, agent);
    expect(outcomeText(outcome)).toContain('booked 4 for Hamlet');
    expect(server.done).toEqual(['booked 4 for Hamlet']);
  });

  it('is on disk before the call is answered, and holds no answer and no argument in plain text', async () => {
    const { bridge } = await start();
    const id = questionId(
      await bridge.call('asking', 'book', { show: 'Lear', apiKey: 'hunter2' }, { context: session }),
    );
    const [entry] = await bridge.bridge.questions.list();
    expect(entry).toMatchObject({ id, value: { session: 'session/s1', call: { tool: 'book', round: 1 } } });
    const stored = JSON.stringify(entry);
    expect(stored).not.toContain('hunter2');
    await answer(bridge, id, { answers: { seats: 7 } }, agent);
    expect(await bridge.bridge.questions.list()).toEqual([]);
  });

  it('holds nobody up: another call completes while one is parked', async () => {
    const { bridge } = await start();
    await bridge.call('asking', 'book', { show: 'a' }, { context: session });
    const other = await bridge.call('asking', 'login', {}, { context: session });
    expect(other.status).toBe('done');
  });

  it('asks the next round under a new id, bounded by maxPerCall', async () => {
    const { server, bridge } = await start({ elicitation: { ...handback, maxPerCall: 2 } });
    const first = questionId(await bridge.call('asking', 'trip', {}, { context: session }));
    const next = await answer(bridge, first, { answers: { city: 'Oslo' } }, agent);
    const second = questionId(next);
    expect(second).not.toBe(first);
    expect((await bridge.bridge.questions.list())[0]?.value.call).toMatchObject({
      round: 2,
      earlierRounds: [{ message: 'Which city?', action: 'accept', answeredFields: ['city'] }],
    });
    const outcome = await answer(bridge, second, { answers: { seats: 2 } }, agent);
    expect(outcomeText(outcome)).toContain('trip to Oslo for 2');
    expect(server.done).toEqual(['trip to Oslo for 2']);
  });

  it('asks several questions of one round one after another and sends their answers together', async () => {
    const { server, bridge } = await start();
    const first = questionId(await bridge.call('asking', 'pair', {}, { context: session }));
    const second = questionId(await answer(bridge, first, { answers: { one: 'A' } }, agent));
    expect(server.done).toEqual([]);
    await answer(bridge, second, { answers: { two: 'B' } }, agent);
    expect(server.done).toEqual(['pair ["A","B"]']);
    expect(server.asked).toEqual(['pair']);
  });

  it('tells another session and a wrong id the same', async () => {
    const { bridge } = await start();
    const id = questionId(await bridge.call('asking', 'book', { show: 'a' }, { context: session }));
    const refused = (wrong: string, by: { kind: 'agent'; session: string | undefined }) =>
      answer(bridge, wrong, { answers: { seats: 1 } }, by).then(
        () => 'answered',
        (error: unknown) => (error as Error).message.replace(wrong, 'ID'),
      );
    const other = await refused(id, { kind: 'agent', session: 'session/s2' });
    expect(other).toContain('no open question');
    expect(await refused('q_0', agent)).toBe(other);
    expect(await refused(id, { kind: 'agent', session: undefined })).toBe(other);
    expect(await bridge.bridge.questions.list()).toHaveLength(1);
  });

  it.each([
    [{ answers: { seats: 'four' } }, /does not fit/],
    [{ answers: { seats: 12 } }, /does not fit/],
    [{ answers: {} }, /does not fit/],
    [{ answers: 'no json' }, /JSON object/],
    [{}, /"answers".*"decline"/],
  ])('stays open after the answer %j', async (given, message) => {
    const { bridge } = await start();
    const id = questionId(await bridge.call('asking', 'book', { show: 'a' }, { context: session }));
    await expect(answer(bridge, id, given, agent)).rejects.toThrow(message);
    const outcome = await answer(bridge, id, { answers: '{"seats": 3}' }, agent);
    expect(outcomeText(outcome)).toContain('booked 3 for a');
  });

  it('is answered once, by one of two who try at the same time', async () => {
    const { server, bridge } = await start();
    const id = questionId(await bridge.call('asking', 'book', { show: 'a' }, { context: session }));
    const tries = await Promise.allSettled([1, 2].map((seats) => answer(bridge, id, { answers: { seats } }, agent)));
    expect(tries.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(server.done).toHaveLength(1);
    await expect(answer(bridge, id, { answers: { seats: 1 } }, agent)).rejects.toThrow(/already answered/);
  });

  it('may be declined without a word of the user, and the call tells of it', async () => {
    const { server, bridge } = await start();
    const id = questionId(await bridge.call('asking', 'wipe', {}, { context: session }));
    const outcome = await answer(bridge, id, { decline: true }, agent);
    expect(server.done).toEqual(['kept']);
    expect(outcomeText(outcome)).toContain('kept');
    await expect(answer(bridge, id, { decline: true }, agent)).rejects.toThrow(/already declined/);
  });

  it('that is a decision is taken from an agent only after the user has spoken', async () => {
    let turn: { atMs: number; text: string } | undefined = { atMs: Date.now() - 60_000, text: 'please clean up' };
    const { server, bridge } = await start(undefined, { lastUserTurn: async () => turn });
    const id = questionId(await bridge.call('asking', 'wipe', {}, { context: session }));
    expect(outcomeText(await bridge.call('asking', 'wipe', {}, { context: session }))).toContain(
      'for the user to decide',
    );
    const asked = (await bridge.bridge.questions.list()).map(({ value }) => JSON.stringify(value.form));
    // What a server writes never opens a line of its own.
    expect(asked[0]).toContain('This deletes 12 rows. Confirm?');
    const yes = { answers: { confirm: true } };
    await expect(answer(bridge, id, yes, agent)).rejects.toThrow(/said nothing since/);
    turn = undefined;
    await expect(answer(bridge, id, yes, agent)).rejects.toThrow(/said nothing since/);
    turn = { atMs: Date.now() + 1_000, text: 'yes, do it' };
    await answer(bridge, id, yes, agent);
    expect(server.done).toEqual(['wiped']);
  });

  it('may be answered by a person at any time, also when it is a decision', async () => {
    const { server, bridge } = await start();
    const id = questionId(await bridge.call('asking', 'wipe', {}, { context: session }));
    await answer(bridge, id, { answers: { confirm: true } }, person);
    expect(server.done).toEqual(['wiped']);
  });

  it('that a person answered is told to its session, with the result in its working memory', async () => {
    const stashed: string[] = [];
    const { bridge } = await start(undefined, {
      stash: async ({ namespace, key, text }) => {
        stashed.push(text);
        return `${namespace}/${key}`;
      },
    });
    const told = Promise.withResolvers<unknown>();
    await bridge.bus.subscribe('mcp.task.result.a', 'test.late', async ({ body }) => {
      told.resolve(body);
      return 'ack';
    });
    const id = questionId(await bridge.call('asking', 'book', { show: 'a' }, { context: session }));
    await answer(bridge, id, { answers: { seats: 1 } }, person);
    expect(await told.promise).toMatchObject({
      namespace: 'session/s1',
      kind: 'question',
      id,
      status: 'done',
      key: `session/s1/mcp-question/asking/${id}/result`,
    });
    expect(stashed[0]).toContain('booked 1 for a');
  });

  it('expires after its time, and says so', async () => {
    const clock = fakeClock();
    const { bridge } = await start(undefined, { clock });
    const id = questionId(await bridge.call('asking', 'book', { show: 'a' }, { context: session }));
    await clock.advance(31 * 60_000);
    await expect(answer(bridge, id, { answers: { seats: 1 } }, agent)).rejects.toThrow(/expired/);
    expect(await bridge.bridge.questions.list()).toEqual([]);
  });

  it('is declined in the call once the session has as many as it may, and another session still gets its own', async () => {
    const { bridge } = await start(undefined, { settings: { maxPendingQuestionsPerSession: 1 } });
    await bridge.call('asking', 'book', { show: 'a' }, { context: session });
    const second = await bridge.text('asking', 'book', { show: 'b' }, { context: session });
    expect(second).toContain('not booked: decline');
    expect(second).toContain('too many questions are open');
    const other = await bridge.call(
      'asking',
      'book',
      { show: 'c' },
      { context: { ...session, namespace: 'session/s2' } },
    );
    expect(other.status).toBe('parked');
  });

  it.each([
    ['is removed', {}],
    ['gets another policy', { asking: { elicitation: { mode: 'handback', maxPerCall: 1 } } }],
  ])('is cancelled when its server %s', async (_what, change) => {
    const { server, bridge } = await start();
    const id = questionId(await bridge.call('asking', 'book', { show: 'a' }, { context: session }));
    const entries = Object.entries(change).map(([name, entry]) => [
      name,
      { id: 'a'.repeat(12), url: server.url, ...entry },
    ]);
    await bridge.write(Object.fromEntries(entries));
    await bridge.bridge.reload();
    await expect(answer(bridge, id, { answers: { seats: 1 } }, agent)).rejects.toThrow(/cancelled/);
    expect(server.done).toEqual([]);
  });

  it('is released when the run that asked has ended', async () => {
    const { bridge } = await start();
    const id = questionId(
      await bridge.call('asking', 'book', { show: 'a' }, { context: { ...session, namespace: 'subagent/x' } }),
    );
    await bridge.bridge.questions.release('subagent/x');
    await expect(
      answer(bridge, id, { answers: { seats: 1 } }, { kind: 'agent', session: 'subagent/x' }),
    ).rejects.toThrow(/run that asked has ended/);
  });

  it('stays open while its server cannot be reached', async () => {
    const { server, bridge } = await start();
    const id = questionId(await bridge.call('asking', 'book', { show: 'a' }, { context: session }));
    await server[Symbol.asyncDispose]();
    await bridge.bridge.refresh('asking').catch(() => undefined);
    await expect(answer(bridge, id, { answers: { seats: 1 } }, agent)).rejects.toThrow(/stays open/);
    expect(await bridge.bridge.questions.list()).toHaveLength(1);
  });
});

describe('a question that is not handed back', () => {
  it.each([
    ['a run that cannot answer', { caller: 'model', namespace: 'session/s1' } as const],
    ['a run without a session', { caller: 'model', answersQuestions: true } as const],
  ])('is answered in the call for %s, and leaves no entry', async (_who, context) => {
    const { server, bridge } = await start();
    const text = await bridge.text('asking', 'book', { show: 'a' }, { context });
    expect(text).toContain('not booked: decline');
    expect(server.done).toEqual(['not booked: decline']);
    expect(await bridge.bridge.questions.list()).toEqual([]);
  });

  it('asks for a credential: it is declined, whatever the mode', async () => {
    const { server, bridge } = await start();
    const text = await bridge.text('asking', 'login', {}, { context: session });
    expect(text).toContain('decline');
    expect(text).toContain('apiKey');
    expect(server.answers).toEqual([{ action: 'decline' }]);
  });

  it('is settled by defaults that cover it', async () => {
    const { server, bridge } = await start({ elicitation: { ...handback, defaults: { seats: 2 } } });
    await bridge.call('asking', 'book', { show: 'a' }, { context: session });
    expect(server.done).toEqual(['booked 2 for a']);
  });

  it('is shown to an operator, who may answer it', async () => {
    const { server, bridge } = await start({});
    const id = questionId(await bridge.call('asking', 'book', { show: 'a' }, { context: { caller: 'operator' } }));
    await answer(bridge, id, { answers: { seats: '5' } }, person).catch(() => undefined);
    await answer(bridge, id, { answers: { seats: 5 } }, person).catch(() => undefined);
    expect(server.done).toEqual(['booked 5 for a']);
  });

  it('does not come from a server that may not ask', async () => {
    const { bridge } = await start({ elicitation: { mode: 'off' } });
    const text = await bridge.text('asking', 'book', { show: 'a' }, { context: session });
    expect(text).toMatch(/elicitation/i);
  });
});
