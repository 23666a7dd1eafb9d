import { orAborted, startDeadline, throwIfAborted } from '../kernel/abort.ts';
import type { Clock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import type { NewId } from '../kernel/ids.ts';
import { newId as randomId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import { toCheckedOutcome } from '../tool/checked-outcome.ts';
import type { CallContext } from '../tool/context.ts';
import { rulesOf } from '../tool/context.ts';
import type { PreparedCall, Tool, ToolCall } from '../tool/executor.ts';
import type { MissingHint } from '../tool/missing-hint.ts';
import type { Outcome } from '../tool/outcome.ts';
import { failedOutcome } from '../tool/outcome.ts';
import type { PrepareArguments } from './prepare-arguments.ts';
import { resolveIds, withOriginals } from './resolve-ids.ts';
import type { ResultPolicy } from './result-policy.ts';
import type { InvokeTelemetry } from './telemetry.ts';
import { toFailure } from './to-failure.ts';
import { unknownToolText } from './unknown-tool.ts';

/** The one way to run a tool: the loop, the bus, MCP, HTTP, the command line, wisps and subagents all call this. */
export interface Invoker {
  /**
   * Looks the tool up, prepares the arguments, runs it under its deadline, classifies how it ended and applies the result
   * policy. Resolves with the outcome, failures included.
   * @throws {GantryError} `stopped`, when the signal says that the gateway stops under the call; `usage` for a kind of caller that does not
   * exist. Nothing else.
   */
  invoke(call: ToolCall, context: CallContext): Promise<Outcome>;
  /**
   * Traces and counts a call that is passed on to where it runs, as it is: nothing is looked up, prepared or changed.
   * What `work` throws is counted as `execution_failed` and thrown on.
   */
  observe<T>(call: ToolCall, context: CallContext, work: () => Promise<ObservedEnd<T>>): Promise<T>;
}

/** How a call that was passed on has ended, as far as it was looked at, and what to give its caller. */
export interface ObservedEnd<T> {
  readonly value: T;
  readonly outcome: Outcome;
}

/** What the invoker is made of. */
export interface InvokerOptions {
  /** The tool this caller may run under that name now. */
  readonly lookUp: (name: string, context: CallContext) => Tool | undefined;
  /** The names this caller may run, to suggest from; nothing else is ever named to it. */
  readonly callableNames: (context: CallContext) => Iterable<string>;
  /** More to tell a caller whose call names no tool, beside near names of those he may run. */
  readonly explainMissing?: ((name: string, context: CallContext) => MissingHint | undefined) | undefined;
  /** How this caller finds tools that are not in his list, as a sentence that names only tools of it. */
  readonly howToFind?: ((context: CallContext) => string | undefined) | undefined;
  readonly prepareArguments: PrepareArguments;
  readonly resultPolicy: ResultPolicy;
  readonly telemetry: InvokeTelemetry;
  readonly clock: Clock;
  readonly log: Log;
  /** For tools without a limit of their own, and the most any built-in tool gets. Default 300,000 ms. */
  readonly maxToolTimeoutMs?: number | undefined;
  readonly newId?: NewId | undefined;
}

/** Makes the one call path. */
export const createInvoker = (options: InvokerOptions): Invoker => {
  const { lookUp, callableNames, prepareArguments, resultPolicy, telemetry, clock, log } = options;
  const { explainMissing, howToFind, maxToolTimeoutMs = 300_000, newId = randomId } = options;

  const notFound = (name: string, context: CallContext): Outcome => {
    telemetry.notFound(name);
    const hint = explainMissing?.(name, context);
    const message = unknownToolText({
      name,
      callable: callableNames(context),
      hint,
      howToFind: howToFind?.(context),
    });
    return failedOutcome('tool_not_found', message);
  };

  const run = (tool: Tool, call: PreparedCall, context: CallContext): Promise<Outcome> => {
    const ownMs = tool.executor.timeoutMs;
    // 0: the executor keeps the time itself (a server's call has a budget of its own, and waiting for a person does not count).
    if (ownMs === 0) return tool.executor.execute(call, context);
    return runWithin(Math.min(context.timeoutMs ?? ownMs ?? maxToolTimeoutMs, maxToolTimeoutMs), tool, call, context);
  };

  const runWithin = async (
    timeoutMs: number,
    tool: Tool,
    call: PreparedCall,
    context: CallContext,
  ): Promise<Outcome> => {
    using deadline = startDeadline(clock, timeoutMs, {
      keepsAlive: true,
      signal: context.signal,
      onExpiry: () =>
        new GantryError('timeout', `Tool "${call.name}" gave no result within ${timeoutMs} ms.`, {
          details: { timeoutMs },
        }),
    });
    return await orAborted(tool.executor.execute(call, { ...context, signal: deadline.signal }), deadline.signal);
  };

  return {
    invoke: async (call, context) => {
      const { argumentsChecked } = rulesOf(context.caller);
      const tool = lookUp(call.name, context);
      if (!tool) return notFound(call.name, context);
      const id = call.id ?? newId();
      // The tool's own name, also when it was called by an earlier one.
      const { name } = tool.registration;
      const startedMs = clock.elapsedMs();
      const span = telemetry.start(name, id, context.trace);
      let status = 'ok';
      try {
        throwIfAborted(context.signal);
        const resolved = resolveIds(call, context, log);
        const checked = await prepareArguments(tool, resolved.call, argumentsChecked);
        const prepared = withOriginals(checked, resolved.originals, tool.registration);
        const inner = span.trace === context.trace ? context : { ...context, trace: span.trace };
        const ready: PreparedCall = { id, name, arguments: prepared, registration: tool.registration };
        const outcome = toCheckedOutcome(await run(tool, ready, inner));
        if (outcome.status === 'failed') status = outcome.failure.code;
        return await resultPolicy(outcome, ready, context);
      } catch (error) {
        const failure = toFailure(error);
        status = failure.code;
        if (isStopped(context.signal)) throw context.signal.reason;
        if (!GantryError.is(error)) log.warn({ tool: name, callId: id, err: error }, 'a tool failed unexpectedly');
        return { status: 'failed', failure };
      } finally {
        span.end(status, clock.elapsedMs() - startedMs);
      }
    },
    observe: async (call, context, work) => {
      const startedMs = clock.elapsedMs();
      const span = telemetry.start(call.name, call.id ?? newId(), context.trace);
      let status = 'execution_failed';
      try {
        const { value, outcome } = await work();
        status = outcome.status === 'failed' ? outcome.failure.code : 'ok';
        return value;
      } finally {
        span.end(status, clock.elapsedMs() - startedMs);
      }
    },
  };
};

/** Whether the gateway stops. Only the caller's own signal can tell: tools throw `stopped` of what they run on, or of anything. */
const isStopped = (signal: AbortSignal | undefined): signal is AbortSignal & { readonly reason: GantryError } =>
  signal?.aborted === true && GantryError.is(signal.reason) && signal.reason.code === 'stopped';
