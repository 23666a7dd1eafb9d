import { orAborted, startDeadline, throwIfAborted } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { TurnStep } from '../../memory/conversation-turn.ts';
import type { WorkingMemory } from '../../memory/working-memory.ts';
import type { CallContext } from '../../tool/context.ts';
import { withNamedFiles } from '../../tool/opaque-ids.ts';
import type { LoopResult } from '../loop/loop-run.ts';
import type { RunLoop } from '../loop/run-loop.ts';
import type { RunHoldings } from '../subagents/run-holdings.ts';
import { convergedPatterns } from './converged-patterns.ts';
import type { WorkerDefinition, WorkerResult } from './worker-definition.ts';
import { workerNamespace } from './worker-definition.ts';
import { blockedMark, workerPrompt } from './worker-prompt.ts';
import type { WorkerTools } from './worker-scope.ts';
import { mayWorkWith, scopeOf } from './worker-scope.ts';

/** What workers run on. */
export interface WorkerPorts extends WorkerTools {
  readonly runLoop: RunLoop;
  readonly memory: Pick<WorkingMemory, 'list' | 'save' | 'stash'>;
  readonly holdings: Pick<RunHoldings, 'releaseQuestions'>;
  /** The day, as the run is told it. */
  readonly today: () => Promise<string>;
  readonly clock: Clock;
  readonly log: Log;
}

/** Does one task and says how that went. @throws {GantryError} the reason, when the signal aborts; `stopped`. */
export type RunWorker = (
  taskId: string,
  definition: WorkerDefinition,
  context: CallContext,
  signal: AbortSignal,
) => Promise<WorkerResult>;

const mostRounds = 12;
const keptForMs = 4 * 3_600_000;
/** What is put into its namespace by the tool layer and not by itself. */
const innerCategories: ReadonlySet<string | undefined> = new Set(['tool-result', 'worker-output']);

/** Makes the runner of workers. */
export const createRunWorker = (ports: WorkerPorts): RunWorker => {
  const { runLoop, memory, holdings, today, clock, log } = ports;

  const work = async (
    namespace: string,
    { description, background, toolsAllow }: WorkerDefinition,
    context: CallContext,
    options: { readonly signal: AbortSignal; readonly onSteps: (steps: readonly TurnStep[]) => void },
  ): Promise<LoopResult> => {
    const { workspace, features, permissions, ids, trace } = context;
    const day = await today();
    const scope =
      toolsAllow &&
      scopeOf(toolsAllow, ports, { ...context, caller: 'model', tier: 'low', namespace, wrapperMode: 'lazy' });
    return runLoop({
      namespace,
      workspace,
      tier: 'low',
      isTierPinned: true,
      tools: mayWorkWith,
      scope,
      systemPrompt: workerPrompt,
      systemTail: () => (background ? `${day}\n\n# Background\n\n${background}` : day),
      messages: [{ role: 'user', content: withNamedFiles(description, ids) }],
      maxToolIterations: mostRounds,
      context: { features, permissions, ids, trace, receivesLateResults: false },
      signal: options.signal,
      onSteps: async (steps) => options.onSteps(steps),
    });
  };

  /** Where the last words are: under the key that was asked for, or, when that cannot be written, under the worker's own. */
  const keep = async (namespace: string, asked: string | undefined, text: string): Promise<string | undefined> => {
    const category = 'worker-output';
    if (asked !== undefined)
      try {
        return (await memory.save(asked, text, { category, ttlMs: keptForMs })).key;
      } catch (error) {
        log.warn({ key: asked, reason: messageOf(error) }, 'the result of a worker was kept under its own key');
      }
    return memory.stash({ namespace, key: 'result', text, category, ttlMs: keptForMs });
  };

  return async (taskId, definition, context, signal) => {
    const namespace = workerNamespace(taskId);
    const { timeoutMs } = definition;
    const startedMs = clock.elapsedMs();
    let steps: readonly TurnStep[] = [];
    let text = '';
    let failureReason: string | undefined;
    {
      using deadline = startDeadline(clock, timeoutMs, {
        signal,
        keepsAlive: true,
        onExpiry: () => new GantryError('timeout', `It timed out after ${Math.round(timeoutMs / 6_000) / 10} min.`),
      });
      const onSteps = (made: readonly TurnStep[]): void => void (steps = made);
      try {
        const result = await orAborted(
          work(namespace, definition, context, { signal: deadline.signal, onSteps }),
          deadline.signal,
        );
        ({ text, steps } = result);
        failureReason = limitText(result.endedBy);
      } catch (error) {
        throwIfAborted(signal);
        if (GantryError.is(error) && error.code === 'stopped') throw error;
        failureReason = messageOf(error);
      } finally {
        await holdings
          .releaseQuestions(namespace)
          .catch((error: unknown) =>
            log.warn({ taskId, reason: messageOf(error) }, 'the questions of a worker could not be released'),
          );
      }
    }
    const isBlocked = text.trimStart().startsWith(blockedMark);
    if (isBlocked) failureReason ??= text.trim().slice(blockedMark.length).trim() || 'it did not say why';
    const resultKey = text === '' ? undefined : await keep(namespace, definition.resultKey, text);
    const recorded = (await memory.list(namespace)).filter(({ category }) => !innerCategories.has(category));
    return {
      taskId,
      description: definition.description,
      isSuccess: failureReason === undefined,
      resultKey,
      text,
      factsRecorded: recorded.length,
      isBlocked,
      convergedPatterns: convergedPatterns(steps),
      durationMs: Math.round(clock.elapsedMs() - startedMs),
      toolMs: steps.flatMap(({ calls }) => calls).reduce((sum, { durationMs = 0 }) => sum + durationMs, 0),
      failureReason,
    };
  };
};

const limitText = (endedBy: LoopResult['endedBy']): string | undefined => {
  switch (endedBy) {
    case 'answer':
      return undefined;
    case 'iterations':
      return `it had not finished after ${mostRounds} rounds of calls`;
    case 'errors':
      return 'too many calls failed in a row';
    case 'timeouts':
      return 'its tools took too long';
  }
};
