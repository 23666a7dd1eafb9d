import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../kernel/ids.ts';
import { silentLog } from '../../../kernel/log.ts';
import { openSqliteStore } from '../../../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../../store/store.ts';
import type { FakeClock } from '../../../testing/fake-clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { testKeyring } from '../../../testing/test-keyring.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { textOutcome } from '../../../tool/outcome.ts';
import { outcomeText } from '../../../tool/outcome-text.ts';
import { createOpenCall } from '../elicitation/open-call.ts';
import { parseElicitationPolicy } from '../elicitation/policy.ts';
import type { QuestionDesk, ResumeCall, TellSession } from './question-desk.ts';
import { createQuestionDesk } from './question-desk.ts';

let clock: FakeClock;
let store: Store;
let told: Parameters<TellSession>[0][];
const desks: QuestionDesk[] = [];
beforeEach(async () => {
  clock = fakeClock();
  store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  told = [];
});
afterEach(async () => {
  await Promise.all(desks.splice(0).map((desk) => desk[Symbol.asyncDispose]()));
  await store[Symbol.asyncDispose]();
});

/** A desk on the store, as a process opens it; a process that is killed is simply not used any more. */
const openDesk = async (
  resume: ResumeCall = async ({ commit }) => {
    await commit();
    return textOutcome('went on');
  },
  ownClock: FakeClock = clock,
): Promise<QuestionDesk> => {
  const desk = createQuestionDesk({
    store,
    clock: ownClock,
    log: silentLog,
    newId,
    resume,
    tell: async (late) => void told.push(late),
    maxPendingQuestions: 50,
    maxPendingQuestionsPerSession: 5,
  });
  desks.push(desk);
  await desk.start();
  return desk;
};

const { policy } = parseElicitationPolicy({ mode: 'handback' }, { scope: 'server' });
const agent = { kind: 'agent', session: 'session/s' } as const;

const ask = async (desk: QuestionDesk, namespace = 'session/s', message = 'How many?'): Promise<Outcome> => {
  const answer = await desk.handBack({
    server: { name: 'mail', id: 'a'.repeat(12), policyHash: 'h' },
    tool: { name: 'send', inputSchema: { type: 'object' } },
    open: createOpenCall({ server: 'mail', tool: 'send', args: { to: 'ann' }, policy }),
    question: {
      key: 'k',
      state: { requests: { k: { method: 'elicitation/create', params: {} } }, responses: {}, requestState: 'state' },
      decision: {
        action: 'hand-back',
        form: { message, fields: [{ name: 'seats', type: 'integer', required: true }] },
        settled: {},
      },
    },
    args: { to: 'ann' },
    sentArgs: { to: 'ann' },
    context: { caller: 'model', namespace, answersQuestions: true },
    startedAtMs: clock.nowMs(),
  });
  if (!('status' in answer)) throw new Error(`declined: ${answer.reason}`);
  return answer;
};
const idOf = (outcome: Outcome): string => (outcome.status === 'parked' ? outcome.handle.id : '');

describe('a process that ends while an answered call runs', () => {
  const neverEnds: ResumeCall = async ({ commit }) => {
    await commit();
    return await new Promise(() => {});
  };

  it('is found by the next one, which tells the conversation once', async () => {
    // Its clock stands still, so it gives no sign of life any more.
    const killed = await openDesk(neverEnds, fakeClock());
    const id = idOf(await ask(killed));
    void killed.answer(id, { answers: { seats: 3 } }, agent);
    await expect.poll(() => killed.list()).toEqual([]);
    const next = await openDesk();
    expect(told).toEqual([]);
    await expect(next.answer(id, { answers: { seats: 3 } }, agent)).rejects.toThrow(/already answered/);
    await clock.advance(16_000);
    await expect.poll(() => told.length).toBe(1);
    expect(told[0]).toMatchObject({ kind: 'interrupted', namespace: 'session/s', id });
    expect(told.map(({ outcome }) => outcomeText(outcome)).join('')).toContain('Whether the tool ran is unknown');
    await expect(next.answer(id, { answers: { seats: 3 } }, agent)).rejects.toThrow(/interrupted by a restart/);
    await clock.advance(3_600_000);
    await openDesk();
    expect(told).toHaveLength(1);
  });

  it('of a subagent has nobody to tell', async () => {
    const first = await openDesk(neverEnds);
    const id = idOf(await ask(first, 'subagent/x'));
    void first.answer(id, { answers: { seats: 3 } }, { kind: 'agent', session: 'subagent/x' });
    await expect.poll(() => first.list()).toEqual([]);
    await store.keyValue<true>('mcp-answering').delete(id);
    await openDesk();
    expect(told).toEqual([]);
  });
});

describe('a question that is open when a process starts', () => {
  it('is still open, and can be answered there', async () => {
    const id = idOf(await ask(await openDesk()));
    const next = await openDesk();
    expect(told).toEqual([]);
    expect((await next.answer(id, { answers: { seats: 1 } }, agent)).outcome).toEqual(textOutcome('went on'));
  });

  it('and has expired meanwhile ends without a word', async () => {
    const first = await openDesk();
    const id = idOf(await ask(first));
    await first[Symbol.asyncDispose]();
    await clock.advance(31 * 60_000);
    const next = await openDesk();
    expect(await next.list()).toEqual([]);
    expect(told).toEqual([]);
    await expect(next.answer(id, { answers: { seats: 1 } }, agent)).rejects.toThrow(/expired/);
  });

  it('is forgotten a day after it was settled', async () => {
    const desk = await openDesk();
    const id = idOf(await ask(desk));
    await desk.answer(id, { answers: { seats: 1 } }, agent);
    for (let hour = 0; hour < 26; hour += 1) await clock.advance(3_600_000);
    await expect.poll(() => desk.stateOf(id)).toBe('unknown');
  });
});

it('keeps one timer, however many questions are open', async () => {
  const desk = await openDesk();
  for (let count = 0; count < 5; count += 1) await ask(desk, `session/${count}`);
  expect(clock.pendingTimers).toBe(1);
});
