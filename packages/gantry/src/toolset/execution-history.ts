import type { Invoker } from '../invoke/invoker.ts';
import { toFailure } from '../invoke/to-failure.ts';
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
import type { ToolRegistry } from '../tool/registry.ts';

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
const nameChars = 128;
const mostParameters = 20;

/** Makes an empty history. A call by an earlier name of a tool counts under its own. */
export const createExecutionHistory = ({
  clock,
  registry,
}: {
  readonly clock: Clock;
  readonly registry: Pick<ToolRegistry, 'get'>;
}): ExecutionHistory => {
  const executions: Remembered[] = [];
  let total = 0;

  const remember = (call: ToolCall, context: CallContext, outcome: Outcome, startedMs: number): void => {
    total += 1;
    executions.push({
      toolName: registry.get(call.name)?.registration.name ?? cutText(call.name, nameChars),
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
      const byCategory = new Map<string, number>();
      for (const { category, source } of tools) {
        const group = category ?? source;
        byCategory.set(group, (byCategory.get(group) ?? 0) + 1);
      }
      const sinceMs = clock.nowMs() - dayMs;
      return {
        totalTools: tools.length,
        toolsByCategory: Object.fromEntries(byCategory),
        recentExecutions: executions.filter(({ atMs }) => atMs >= sinceMs).length,
        totalExecutions: total,
      };
    },
    remembering: (invoker) => ({
      observe: async (call, context, work) => {
        const startedMs = clock.elapsedMs();
        try {
          return await invoker.observe(call, context, async () => {
            const end = await work();
            remember(call, context, end.outcome, startedMs);
            return end;
          });
        } catch (error) {
          remember(call, context, { status: 'failed', failure: toFailure(error) }, startedMs);
          throw error;
        }
      },
      invoke: async (call, context) => {
        const startedMs = clock.elapsedMs();
        try {
          const outcome = await invoker.invoke(call, context);
          remember(call, context, outcome, startedMs);
          return outcome;
        } catch (error) {
          remember(call, context, { status: 'failed', failure: toFailure(error) }, startedMs);
          throw error;
        }
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
  return Object.fromEntries(
    Object.entries(parsed.value)
      .slice(0, mostParameters)
      .map(([key, value]) => [cutText(key, nameChars), boundedValue(value)]),
  );
};

const boundedValue = (value: JsonObject[string]): JsonObject[string] => {
  if (typeof value === 'string') return shortened(value);
  if (typeof value !== 'object' || value === null) return value;
  // A program may call with what the call path then refuses.
  const text = jsonProblem(value) === undefined ? JSON.stringify(value) : '(not JSON)';
  return text.length <= valueChars && text !== '(not JSON)' && shortened(text) === text ? value : shortened(text);
};

/** Bytes of files, as base64: whoever reads the history wants to know that they were there, not what they are. */
const bytes = /(?:data:[\w.+/-]+;base64,)?[\w+/=-]{200,}/g;
const fewestBytes = 200;
const bytesSeen = 4 * valueChars;

const shortened = (value: string): string => {
  if (value.length < fewestBytes) return value;
  const seen = cutText(value, bytesSeen);
  const text = seen.replaceAll(
    bytes,
    ({ length }) => `(${length === seen.length ? value.length : length} characters of data)`,
  );
  return value.length <= valueChars ? text : `${cutText(text, valueChars)}…`;
};
