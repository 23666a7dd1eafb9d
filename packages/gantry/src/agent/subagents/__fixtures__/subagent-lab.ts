import type { Envelope } from '../../../bus/envelope.ts';
import { newId } from '../../../kernel/ids.ts';
import { silentLog } from '../../../kernel/log.ts';
import type { MemoryRecord, WorkingMemory } from '../../../memory/working-memory.ts';
import { createWorkingMemory } from '../../../memory/working-memory.ts';
import { openSqliteStore } from '../../../store/sqlite/open-sqlite-store.ts';
import type { Store } from '../../../store/store.ts';
import type { FakeClock } from '../../../testing/fake-clock.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { testKeyring } from '../../../testing/test-keyring.ts';
import type { LoopResult, LoopRun } from '../../loop/loop-run.ts';
import { createTierModels } from '../../models/tier-models.ts';
import type { SubagentTask, Subagents, SubagentsOptions } from '../subagents.ts';
import { createSubagents } from '../subagents.ts';
import type { LateNotice } from '../task-inbox.ts';

export const minuteMs: number = 60_000;
export const namespace: string = 'session/s1';
/** The conversation that starts subagents. */
export const caller: { readonly caller: 'model'; readonly namespace: string } = { caller: 'model', namespace };

/** Subagents over a store of their own, whose loop answers as it is told. */
export interface SubagentLab extends AsyncDisposable {
  readonly clock: FakeClock;
  readonly store: Store;
  readonly memory: WorkingMemory;
  /** Those that are disposed with the lab. */
  subagents: Subagents;
  /** What the loop was to do. */
  readonly runs: readonly LoopRun[];
  /** What conversations were told. */
  readonly notices: readonly LateNotice[];
  readonly published: readonly (readonly [string, Envelope])[];
  /** Tasks that are open on servers. */
  openTasks: string[];
  readonly cancelledTasks: readonly string[];
  /** Namespaces whose questions were released. */
  readonly released: readonly string[];
  /** What the loop does. */
  answer: (run: LoopRun) => Promise<LoopResult>;
  create(more?: Partial<SubagentsOptions>, hasModel?: boolean): Subagents;
  spawn(description: string, more?: Partial<SubagentTask>): Promise<string>;
  /** Resolves when conversations were told so many things. */
  told(count: number): Promise<void>;
  /** Lets everything run that only waits for promises and the store. */
  settle(): Promise<void>;
}

/** How a run of the loop ends. */
export const result = (text: string, more: Partial<LoopResult> = {}): LoopResult => ({
  text,
  steps: [],
  endedBy: 'answer',
  tier: 'balanced',
  model: 'm',
  usage: { inputTokens: 1, outputTokens: 1, cachedTokens: 0 },
  ...more,
});

/** A run that goes on until it is ended. */
export const untilAborted = ({ signal }: LoopRun): Promise<never> =>
  new Promise((_resolve, reject) => {
    const fail = (): void => reject(signal.reason as Error);
    if (signal.aborted) fail();
    else signal.addEventListener('abort', fail);
  });

/** A task with nothing but its description. */
export const task = (description: string, more: Partial<SubagentTask> = {}): SubagentTask => ({
  description,
  inputs: undefined,
  background: undefined,
  timeoutMs: undefined,
  maxIterations: undefined,
  consolidate: true,
  ...more,
});

/** Opens a lab whose loop says that the answer is 42. */
export const openSubagentLab = async (): Promise<SubagentLab> => {
  const clock = fakeClock();
  const store = await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log: silentLog });
  const memory = createWorkingMemory({ keyValue: store.keyValue<MemoryRecord>('memory'), clock, log: silentLog });
  const runs: LoopRun[] = [];
  const notices: LateNotice[] = [];
  const published: [string, Envelope][] = [];
  const released: string[] = [];
  const cancelledTasks: string[] = [];
  const heard: { readonly count: number; readonly resolve: () => void }[] = [];

  const create: SubagentLab['create'] = (more = {}, hasModel = true) =>
    createSubagents({
      runLoop: (run) => {
        runs.push(run);
        return lab.answer(run);
      },
      models: createTierModels({
        models: hasModel
          ? { balanced: { provider: 'openai-compatible', endpoint: 'http://127.0.0.1:9/v1', modelId: 'm' } }
          : {},
        env: {},
      }),
      store,
      memory,
      clock,
      newId,
      log: silentLog,
      bus: { publish: async (topic, envelope) => void published.push([topic, envelope]) },
      agent: 'tester',
      thresholds: { low: 0.15, balanced: 0.46 },
      today: async () => 'Today is a day.',
      holdings: {
        openTasks: async () => lab.openTasks,
        cancelTask: async (id) => void cancelledTasks.push(id),
        releaseQuestions: async (of) => void released.push(of),
      },
      notify: async (notice) => {
        notices.push(notice);
        for (const { count, resolve } of heard) if (notices.length >= count) resolve();
      },
      lastUserText: async () => 'do it',
      maxConcurrent: 3,
      defaultTimeoutMs: 10 * minuteMs,
      ...more,
    });

  const lab: SubagentLab = {
    clock,
    store,
    memory,
    runs,
    notices,
    published,
    released,
    cancelledTasks,
    openTasks: [],
    answer: async () => result('The answer is 42.'),
    create,
    subagents: create(),
    spawn: (description, more) => lab.subagents.spawn(task(description, more), caller),
    told: (count) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      if (notices.length >= count) resolve();
      else heard.push({ count, resolve });
      return promise;
    },
    settle: () => clock.advance(0),
    [Symbol.asyncDispose]: async () => {
      await lab.subagents[Symbol.asyncDispose]();
      await memory[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
  return lab;
};
