import type { ModelMessage } from 'ai';
import { orAborted, throwIfAborted } from '../../kernel/abort.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isObject } from '../../kernel/json.ts';
import { giveWay, sideBySide } from '../../kernel/side-by-side.ts';
import { cutText } from '../../text/cut.ts';
import { scrubValue } from '../../text/scrub.ts';
import { outcomeText } from '../../tool/outcome-text.ts';
import type { CallContext } from '../../tool/context.ts';
import type { ToolCall } from '../../tool/executor.ts';
import type { ContextItem, FailureCode, Handle, Outcome } from '../../tool/outcome.ts';
import { failedOutcome } from '../../tool/outcome.ts';
import type { ModelOutput } from '../model-output.ts';
import { toModelOutput } from '../model-output.ts';
import type { ActionGate } from './action-gate.ts';
import type { ToItemMessage } from './context-items.ts';
import { leftOutText, mostCallsAtOnce, mostCallsOfAnswer } from './call-limits.ts';
import { targetOfCall } from './effect-of-call.ts';
import type { OnLoopEvent } from './loop-events.ts';
import type { LoopDeps } from './loop-run.ts';
import type { TurnTools, WrittenCall } from './turn-tools.ts';

/** A call that has ended. */
export interface RanCall {
  readonly id: string;
  /** The tool's own name. */
  readonly name: string;
  readonly arguments: JsonObject;
  readonly status: Outcome['status'];
  readonly isError: boolean;
  /** The code of a failure. */
  readonly failure?: FailureCode | undefined;
  /** What the model gets. */
  readonly text: string;
  readonly output: ModelOutput;
  readonly handle?: Handle | undefined;
  /** It asks for no further step of the turn. */
  readonly endsTurn: boolean;
  /** What the model is to look at in place of this result. */
  readonly item?: ContextItem | undefined;
  /** The message that shows it. */
  readonly itemMessage?: ModelMessage | undefined;
  readonly durationMs: number;
}

/** How the calls of an answer are run. */
export interface CallsToRun {
  readonly calls: readonly WrittenCall[];
  readonly tools: TurnTools;
  readonly context: CallContext;
  /** Nothing runs: the provider cut the answer, and what was to be done may be half of it. */
  readonly isCutOff: boolean;
  /** Looks at each call that is about to run. */
  readonly gate?: ActionGate | undefined;
  readonly toItemMessage: ToItemMessage;
  readonly onEvent: OnLoopEvent;
  /** Is told of each call as it ends, in the sequence in which they do. */
  readonly onRan?: ((call: RanCall) => void) | undefined;
}

const cutOffText =
  'The answer broke off before it was complete, so this call did not run. Make the call again with shorter arguments, or in several smaller calls.';
const eventChars = 2_000;

/**
 * Runs the calls of one answer side by side, a limited number at a time, and gives their results in the sequence of the calls. A call never
 * throws: what goes wrong is its result. Calls beyond the limit of an answer do not run, which is theirs.
 * @throws {GantryError} the reason, as soon as the signal aborts, whether or not the tools that run listen; `stopped`.
 */
export const runCalls = async (
  { invoker, toolsets, clock }: Pick<LoopDeps, 'invoker' | 'toolsets' | 'clock'>,
  { calls, tools, context, isCutOff, gate, toItemMessage, onEvent, onRan }: CallsToRun,
): Promise<readonly RanCall[]> => {
  const { signal, model } = context;
  // Elsewhere a result of a tool is text only.
  const seesImages = model?.capabilities?.['sees_images'] === true && model.provider !== 'openai-compatible';
  // Others wrap what is marked so into JSON, which is harder to read than the text.
  const marksErrors = model?.provider === 'anthropic';

  let isOver = false;

  const toRan = ({ id = '', name }: ToolCall, args: JsonObject, outcome: Outcome, durationMs: number): RanCall => {
    const text = resultText(outcome);
    const output = toModelOutput(outcome, { seesImages });
    return {
      id,
      name,
      arguments: args,
      status: outcome.status,
      isError: outcome.status === 'failed',
      failure: outcome.status === 'failed' ? outcome.failure.code : undefined,
      text,
      output: output.type === 'content' ? output : { type: marksErrors ? output.type : 'text', value: text },
      handle: outcome.status === 'parked' ? outcome.handle : undefined,
      endsTurn: outcome.status === 'done' && outcome.endTurn === true,
      item: itemOf(outcome, name, args),
      durationMs,
    };
  };

  /** A server has no say in what is put before the model beside its results. */
  const itemOf = (outcome: Outcome, name: string, args: JsonObject): ContextItem | undefined => {
    if (outcome.status !== 'done' || !outcome.contextItem) return undefined;
    const isOwn = targetOfCall(toolsets, { name, arguments: args }, context)?.source.startsWith('mcp:') === false;
    return isOwn ? outcome.contextItem : undefined;
  };

  const run = async (written: WrittenCall): Promise<RanCall> => {
    throwIfAborted(signal);
    const { id } = written;
    const call = tools.toCall(written);
    const { name } = call;
    // What could not be read is cleared from the history, or the provider would refuse it with each further request.
    const args = isCutOff ? {} : argumentsOf(call);
    const startedMs = clock.elapsedMs();
    // Whoever listens sees what is kept on record, which has no secrets either.
    onEvent({ type: 'tool-start', id, name, arguments: scrubValue(args) as JsonObject });
    const outcome = await outcomeOf(call);
    const ran = toRan(call, args, outcome, Math.round(clock.elapsedMs() - startedMs));
    // Of a turn that has ended nothing more is told.
    if (isOver) return ran;
    const { status, text, durationMs, handle } = ran;
    onRan?.(ran);
    onEvent({ type: 'tool-end', id, name, status, durationMs, result: cutText(text, eventChars), handle });
    // While other calls go on: until they have ended a file may be another, and what is in none may have left the stash.
    return ran.item ? { ...ran, itemMessage: await toItemMessage(name, ran.item) } : ran;
  };

  const leaveOut = (written: WrittenCall): RanCall => {
    const call = tools.toCall(written);
    const ran = toRan(call, argumentsOf(call), failedOutcome('execution_failed', leftOutText, 'later'), 0);
    onRan?.(ran);
    return ran;
  };

  const outcomeOf = async (call: ReturnType<TurnTools['toCall']>): Promise<Outcome> => {
    if (isCutOff) return failedOutcome('invalid_arguments', cutOffText);
    const refusal = tools.refusal(call.name);
    if (refusal !== undefined) return failedOutcome('tool_not_found', refusal);
    const { id = '', name } = call;
    const target = gate && targetOfCall(toolsets, { name, arguments: argumentsOf(call) }, context);
    const gated = gate ? await gate.admit(target, context) : { context };
    if ('refusal' in gated) return failedOutcome('execution_failed', gated.refusal);
    // A copy, because a tool may change what it is given, and what the model called with stays on record.
    const own = isObject(call.arguments) ? { ...call, arguments: structuredClone(call.arguments) } : call;
    return invoker.invoke(own, {
      ...gated.context,
      onProgress: (progress) => {
        if (!isOver) onEvent({ type: 'tool-progress', id, name, progress });
      },
    });
  };

  const leftOut = calls.slice(mostCallsOfAnswer).map(leaveOut);
  const running = sideBySide(calls.slice(0, mostCallsOfAnswer), mostCallsAtOnce, run);
  try {
    return [...(signal ? await orAborted(running, signal) : await running), ...leftOut];
  } catch (error) {
    // Tools that listen have ended by then, and how they did is kept.
    await giveWay();
    throw error;
  } finally {
    isOver = true;
  }
};

/** What could not be read counts as none. */
const argumentsOf = ({ arguments: args }: ToolCall): JsonObject => (isObject(args) ? args : {});

/** A failure is marked, so that weak models do not take its text for data. */
const resultText = (outcome: Outcome): string => {
  const text = outcomeText(outcome);
  return outcome.status === 'failed' && !/^error\b/i.test(text) ? `Error: ${text}` : text;
};
