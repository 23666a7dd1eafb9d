import type { Clock } from '../../kernel/clock.ts';
import { orAborted, throwIfAborted } from '../../kernel/abort.ts';
import type { StoredTurn, TurnStep } from '../../memory/conversation-turn.ts';
import type { CallContext, Tier } from '../../tool/context.ts';
import { toMessages } from '../context/turn-messages.ts';
import type { LoopEvent, OnLoopEvent } from '../loop/loop-events.ts';
import type { LoopResult } from '../loop/loop-run.ts';
import type { RunLoop } from '../loop/run-loop.ts';
import type { TierModels } from '../models/tier-models.ts';
import { mayUse } from './may-use.ts';
import { subagentPrompt } from './subagent-prompt.ts';
import { subagentNamespace } from './subagent-record.ts';
import type { TaskInbox } from './task-inbox.ts';

/** The background tasks that a run has open, by id. */
export type OpenTasks = (namespace: string) => Promise<readonly string[]>;

/** What a subagent runs on. */
export interface RunSubagentDeps {
  readonly runLoop: RunLoop;
  readonly models: TierModels;
  readonly openTasks: OpenTasks;
  readonly clock: Clock;
  /** The day, as the run is told it. */
  readonly today: () => Promise<string>;
}

/** One subagent's work. */
export interface SubagentRun {
  readonly taskId: string;
  readonly workspace: string | undefined;
  /** The task, with what it is to work with. */
  readonly task: string;
  /** What the agent that handed it over wants it to know. */
  readonly background: string | undefined;
  /** What others gave for the same conversation before. */
  readonly prior?: string | undefined;
  readonly tier: Tier;
  readonly maxIterations: number | undefined;
  readonly context: Pick<CallContext, 'features' | 'permissions' | 'ids' | 'trace'>;
  readonly inbox: TaskInbox;
  readonly signal: AbortSignal;
  /** Hears every answer that led to calls, as it grows. */
  readonly onSteps: (steps: readonly TurnStep[]) => void;
}

/** The most rounds that results of background tasks can lead to. */
const mostRounds = 10;
const lookEveryMs = 2_000;

/**
 * Does a task: a run of the loop, and another one for what its background tasks brought, until none is open.
 * @throws {GantryError} what the loop throws.
 */
export const runSubagent = async (deps: RunSubagentDeps, run: SubagentRun): Promise<LoopResult> => {
  const { runLoop, models, clock, today } = deps;
  const { taskId, inbox, signal, background } = run;
  const namespace = subagentNamespace(taskId);
  const turns: StoredTurn[] = [];
  const add = (turn: Omit<Extract<StoredTurn, { role: 'user' }>, 'number' | 'role' | 'atMs'>): void => {
    turns.push({ ...turn, role: 'user', number: turns.length, atMs: clock.nowMs() });
  };
  const startedTasks = new Set<string>();
  const onEvent: OnLoopEvent = (event: LoopEvent) => {
    if (event.type === 'tool-end' && event.handle?.kind === 'task') startedTasks.add(event.handle.id);
  };
  let earlier: readonly TurnStep[] = [];

  add({ origin: 'person', text: run.task });
  for (let round = 1; ; round += 1) {
    const day = await today();
    const result = await runLoop({
      namespace,
      workspace: run.workspace,
      tier: run.tier,
      tools: mayUse,
      systemPrompt: subagentPrompt,
      systemTail: () => [day, background && `# Background\n\n${background}`, run.prior].filter(Boolean).join('\n\n'),
      messages: toMessages(turns, models.get(run.tier).facts.provider),
      maxToolIterations: run.maxIterations,
      context: { ...run.context, receivesLateResults: true },
      signal,
      onEvent,
      onSteps: async (steps) => run.onSteps([...earlier, ...steps]),
    });
    earlier = [...earlier, ...result.steps];
    const done: LoopResult = { ...result, steps: earlier };
    if (round === mostRounds) return done;
    await untilTasksEnd(deps, { namespace, inbox, startedTasks, signal });
    const notices = inbox.take();
    if (notices.length === 0) return done;
    const { text, steps } = result;
    turns.push({ role: 'assistant', status: 'done', text, steps, number: turns.length, atMs: clock.nowMs() });
    add({
      origin: 'notice',
      text: `${notices.map((notice) => notice.text).join('\n\n')}\n\nGo on with this, then finish with your whole summary.`,
    });
  }
};

/** Waits until the result of every background task is in the inbox. One that somebody else cancelled brings none. */
const untilTasksEnd = async (
  { openTasks, clock }: Pick<RunSubagentDeps, 'openTasks' | 'clock'>,
  wait: {
    readonly namespace: string;
    readonly inbox: TaskInbox;
    readonly startedTasks: ReadonlySet<string>;
    readonly signal: AbortSignal;
  },
): Promise<void> => {
  const { namespace, inbox, startedTasks, signal } = wait;
  let gone: readonly string[] = [];
  for (;;) {
    throwIfAborted(signal);
    const waitedFor = [...startedTasks].filter((id) => !inbox.hasHeardOf(id));
    if (waitedFor.length === 0) return;
    const open = await openTasks(namespace);
    // A result is on its way for a moment after its task is off the list, so a task is given up at the second look.
    const missing = waitedFor.filter((id) => !open.includes(id));
    if (waitedFor.every((id) => gone.includes(id) && missing.includes(id))) return;
    gone = missing;
    const pause = Promise.withResolvers<void>();
    const timer = clock.startTimer(lookEveryMs, pause.resolve);
    try {
      await orAborted(Promise.race([pause.promise, inbox.next()]), signal);
    } finally {
      timer.stop();
    }
  }
};
