import type { Invoker } from '../invoke/invoker.ts';
import type { Clock } from '../kernel/clock.ts';
import type { JsonObject } from '../kernel/json.ts';
import { isObject } from '../kernel/json.ts';
import { jsonProblem } from '../kernel/json-problem.ts';
import { cutText } from '../text/cut.ts';
import { parseArguments } from '../text/parse-arguments.ts';
import { scrubValue } from '../text/scrub.ts';
import { redactText } from '../text/scrub-strictly.ts';
import type { CallContext } from '../tool/context.ts';
import type { ToolCall } from '../tool/executor.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import type { Outcome } from '../tool/outcome.ts';
import type { ToolRegistration } from '../tool/registration.ts';

/** A call that was made, whatever it was of: a built-in tool, or one of a server. */
export interface ToolExecution {
  readonly toolName: string;
  /** Vendor key of the model that called; `unknown` where none did. */
  readonly provider: string;
  readonly workspace: string;
  /** Session of the caller, or its name as a client. */
  readonly caller: string;
  /** With values of credential-named keys masked, and long ones cut. */
  readonly parameters: JsonObject;
  readonly status: Outcome['status'];
  /** The beginning of its text form. Never holds bytes of files. */
  readonly result: string;
  readonly durationMs: number;
  /** When it ended, epoch milliseconds. */
  readonly atMs: number;
}

/** What was called lately. */
export interface ToolStats {
  readonly totalTools: number;
  /** By category; a tool without one counts under its source. */
  readonly toolsByCategory: Readonly<Record<string, number>>;
  /** In the last 24 hours, as far as they are remembered. */
  readonly recentExecutions: number;
  /** Since the start. */
  readonly totalExecutions: number;
}

/** Remembers the last calls of this process. Not kept over a restart. */
export interface ExecutionHistory {
  /** Newest first; default 100. */
  list(limit?: number): readonly ToolExecution[];
  stats(tools: readonly ToolRegistration[]): ToolStats;
  /** The same invoker, whose calls are remembered. */
  remembering(invoker: Invoker): Invoker;
}

const mostKept = 1000;
const keptOnOverflow = 900;
const dayMs = 24 * 3_600_000;
const valueChars = 500;

/** Makes an empty history. */
export const createExecutionHistory = ({ clock }: { readonly clock: Clock }): ExecutionHistory => {
  const executions: Remembered[] = [];
  let total = 0;

  const remember = (call: ToolCall, context: CallContext, outcome: Outcome, startedMs: number): void => {
    total += 1;
    executions.push({
      toolName: call.name,
      provider: context.model?.provider ?? 'unknown',
      workspace: context.workspace ?? 'unknown',
      caller: context.namespace ?? context.client ?? context.caller,
      given: bounded(call.arguments),
      status: outcome.status,
      said: cutText(outcomeText(outcome), valueChars),
      durationMs: Math.round(clock.elapsedMs() - startedMs),
      atMs: clock.nowMs(),
    });
    if (executions.length > mostKept) executions.splice(0, executions.length - keptOnOverflow);
  };

  return {
    list: (limit = 100) =>
      executions
        .slice(Math.max(0, executions.length - Math.max(0, limit)))
        .toReversed()
        .map(toExecution),
    stats: (tools) => {
      const toolsByCategory: Record<string, number> = {};
      for (const { category, source } of tools) {
        const group = category ?? source;
        toolsByCategory[group] = (toolsByCategory[group] ?? 0) + 1;
      }
      const sinceMs = clock.nowMs() - dayMs;
      return {
        totalTools: tools.length,
        toolsByCategory,
        recentExecutions: executions.filter(({ atMs }) => atMs >= sinceMs).length,
        totalExecutions: total,
      };
    },
    remembering: (invoker) => ({
      ...invoker,
      invoke: async (call, context) => {
        const startedMs = clock.elapsedMs();
        const outcome = await invoker.invoke(call, context);
        remember(call, context, outcome, startedMs);
        return outcome;
      },
    }),
  };
};

/** A call as it is remembered: small, but not masked yet, since masking takes longer than many a call does. */
interface Remembered extends Omit<ToolExecution, 'parameters' | 'result'> {
  readonly given: JsonObject;
  readonly said: string;
}

const toExecution = ({ given, said, ...rest }: Remembered): ToolExecution => ({
  ...rest,
  parameters: scrubValue(given) as JsonObject,
  result: redactText(said),
});

/** The arguments with everything that is long cut. What cannot be read is left out. */
const bounded = (raw: ToolCall['arguments']): JsonObject => {
  const parsed = isObject(raw) ? { ok: true as const, value: raw } : parseArguments(raw);
  if (!parsed.ok) return {};
  const kept: Record<string, JsonObject[string]> = {};
  for (const [key, value] of Object.entries(parsed.value)) {
    if (typeof value === 'string') kept[key] = value.length <= valueChars ? value : `${cutText(value, valueChars)}…`;
    else if (typeof value === 'object' && value !== null) {
      // A program may call with what the call path then refuses.
      const text = jsonProblem(value) === undefined ? JSON.stringify(value) : '(not JSON)';
      kept[key] = text.length <= valueChars && text !== '(not JSON)' ? value : `${cutText(text, valueChars)}…`;
    } else kept[key] = value;
  }
  return kept;
};
