/**
 * `questions-process.ts STORE COUNT`: a process with a desk of questions, which hands `COUNT` of them back first. Tells its parent its
 * resident memory (MB) once it is at rest, and how many questions are open.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { systemClock as clock } from '../../packages/gantry/src/kernel/clock.ts';
import { newId } from '../../packages/gantry/src/kernel/ids.ts';
import { silentLog as log } from '../../packages/gantry/src/kernel/log.ts';
import { createOpenCall } from '../../packages/gantry/src/mcp/bridge/elicitation/open-call.ts';
import { parseElicitationPolicy } from '../../packages/gantry/src/mcp/bridge/elicitation/policy.ts';
import { createQuestionDesk } from '../../packages/gantry/src/mcp/bridge/questions/question-desk.ts';
import { openSqliteStore } from '../../packages/gantry/src/store/sqlite/open-sqlite-store.ts';
import { testKeyring } from '../../packages/gantry/src/testing/test-keyring.ts';
import { textOutcome } from '../../packages/gantry/src/tool/outcome.ts';

/** What the process tells. */
export interface QuestionsMessage {
  readonly rssMb: number;
  readonly open: number;
  readonly perSecond: number;
}

if (process.send) {
  const [path, count] = process.argv.slice(2) as [string, string];
  const store = await openSqliteStore({ path, clock, keyring: testKeyring('bench'), log });
  const desk = createQuestionDesk({
    store,
    clock,
    log,
    newId,
    resume: async () => textOutcome('never'),
    tell: async () => {},
    maxPendingQuestions: 1_000_000,
    maxPendingQuestionsPerSession: 1_000_000,
  });
  await desk.start();
  const { policy } = parseElicitationPolicy({ mode: 'handback', handbackTtlMinutes: 600 }, { scope: 'server' });
  const args = { show: 'Hamlet', note: 'x'.repeat(400) };
  const inputSchema = { type: 'object' } as const;
  const form = {
    message: 'How many seats?',
    fields: [{ name: 'seats', type: 'integer' as const, required: true, minimum: 1, maximum: 9 }],
  };
  const startedMs = performance.now();
  for (let done = 0; done < Number(count); done += 1) {
    const open = createOpenCall({ server: 's', tool: 'book', args, policy });
    const requests = { seats: { method: 'elicitation/create', params: {} } };
    await desk.handBack({
      server: { name: 's', id: 'a'.repeat(12), policyHash: 'h' },
      tool: { name: 'book', inputSchema },
      open,
      question: {
        key: 'seats',
        state: { requests, responses: {}, requestState: 'y'.repeat(400) },
        decision: { action: 'hand-back', form, settled: {} },
      },
      args,
      sentArgs: args,
      context: { caller: 'model', namespace: `session/${done}`, answersQuestions: true },
      startedAtMs: clock.nowMs(),
    });
  }
  const perSecond = (Number(count) * 1000) / (performance.now() - startedMs);
  globalThis.gc?.();
  await pause(2_000);
  globalThis.gc?.();
  const rssMb = process.memoryUsage().rss / 2 ** 20;
  process.send?.({ rssMb, open: (await desk.list()).length, perSecond } satisfies QuestionsMessage);
  await desk[Symbol.asyncDispose]();
  await store[Symbol.asyncDispose]();
  process.disconnect?.();
}
