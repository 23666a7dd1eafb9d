import type { Clock } from '../kernel/clock.ts';
import { orAborted, startDeadline } from '../kernel/abort.ts';
import { GantryError, messageOf } from '../kernel/errors.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { isObject } from '../kernel/json.ts';
import type { Invoker } from '../invoke/invoker.ts';
import type { Outcome } from '../tool/outcome.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import type { ToolAction } from './scheduled-task.ts';

/** A run of a task as its action sees it. */
export interface TaskRun {
  readonly taskName: string;
  readonly description: string;
  readonly isSystemTask: boolean;
  readonly workspace?: string | undefined;
  /** Working-memory namespace and session of the run: `patrol/{taskName}`, or `patrol/{workspace}/{taskName}`. */
  readonly namespace: string;
  readonly scheduledAtMs: number;
  /** What the agent should know about this run, such as that it comes late. */
  readonly note?: string | undefined;
  /** Aborts when the process stops, or the run takes too long. */
  readonly signal: AbortSignal;
}

/** How an action ended; `busy` means it did not run and is to be tried again later. */
export type RunResult =
  | { readonly status: 'done' | 'failed' | 'parked'; readonly text: string }
  | { readonly status: 'busy' };

/** Runs an agent's turn with the description as prompt. Throwing counts as failed. */
export type RunTurn = (run: TaskRun) => Promise<RunResult>;

/** What tasks can do. */
export interface ActionOptions {
  readonly invoker: Pick<Invoker, 'invoke'>;
  readonly clock: Clock;
  /** Absent: no model is configured. */
  readonly runTurn?: RunTurn | undefined;
  /** What a task without an action of its own does where there is no model. */
  readonly action?: ToolAction | undefined;
}

/**
 * Does what a task is for: its own tool call, else an agent's turn, else the configured tool call. Never throws,
 * and settles as soon as the run's signal aborts, whether or not the work behind it listens.
 */
export type RunAction = (run: TaskRun, own: ToolAction | undefined) => Promise<RunResult>;

/** What is recorded for a prompt where no model can read it. */
export const noModelText =
  'No model is configured, so this task cannot run as an agent turn. Configure one (models), or give the task a tool call.';

const maxRunMs = 3_600_000;

/** Makes the action of an instance. A run may take an hour. */
export const createRunAction = (options: ActionOptions): RunAction => {
  const { invoker, clock, runTurn } = options;
  const callTool = async (run: TaskRun, action: ToolAction): Promise<RunResult> => {
    const { workspace, namespace, signal } = run;
    const args = action.arguments && (filledIn(action.arguments, run) as JsonObject);
    const outcome = await invoker.invoke(
      { name: action.tool, arguments: args },
      { caller: 'model', namespace, workspace, signal },
    );
    return { status: outcome.status, text: outcomeText(outcome) } satisfies { status: Outcome['status']; text: string };
  };
  const act = (run: TaskRun, own: ToolAction | undefined): Promise<RunResult> => {
    if (own) return callTool(run, own);
    if (runTurn) return runTurn(run);
    if (options.action) return callTool(run, options.action);
    return Promise.resolve({ status: 'failed', text: noModelText });
  };
  return async (run, own) => {
    using deadline = startDeadline(clock, maxRunMs, {
      signal: run.signal,
      onExpiry: () =>
        new GantryError('timeout', `The run of "${run.taskName}" was ended after an hour.`, {
          details: { timeoutMs: maxRunMs },
        }),
    });
    try {
      return await orAborted(act({ ...run, signal: deadline.signal }, own), deadline.signal);
    } catch (error) {
      return { status: 'failed', text: messageOf(error) };
    }
  };
};

/** The value with the task's name and description in place of `{task}` and `{description}`, at every depth. */
const filledIn = (value: Json | undefined, run: TaskRun): Json | undefined => {
  if (typeof value === 'string')
    return value.replaceAll(/\{(task|description)\}/g, (_, word) => (word === 'task' ? run.taskName : run.description));
  if (Array.isArray(value)) return value.map((item) => filledIn(item, run) ?? null);
  if (isObject(value)) {
    const filled: Record<string, Json | undefined> = {};
    for (const [key, member] of Object.entries(value)) filled[key] = filledIn(member, run);
    return filled;
  }
  return value;
};
