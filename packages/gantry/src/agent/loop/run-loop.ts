/**
 * The loop: ask the model, run the calls of its answer, give it their results, until it answers without a call. Everything that drives
 * tools with a model is a run of it. Its parts: `turn-tools` (what may be called, one object for the turn), `turn-requests` (one answer),
 * `call-messages` (which calls, and how they are told), `record-calls`, `call-guards` (when to stop), `nudges`, `ends-turn`, `turn-judge` and
 * `closing-answer` (last words).
 */
import type { ModelMessage } from 'ai';
import { throwIfAborted } from '../../kernel/abort.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { TurnStep } from '../../memory/conversation-turn.ts';
import type { CallContext, TraceContext } from '../../tool/context.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import { isFiltered } from '../models/model-error.ts';
import type { TierModel } from '../models/tier-models.ts';
import { createAskModel } from './ask-model.ts';
import type { KnownLimits } from './ask-with-recovery.ts';
import { createItemMessages } from './context-items.ts';
import { createCallGuards } from './call-guards.ts';
import { mostCallsOfAnswer } from './call-limits.ts';
import { callMessages, callsOf } from './call-messages.ts';
import type { ClosingReason } from './closing-answer.ts';
import { closingAnswer, nothingSaidText, timeoutsText } from './closing-answer.ts';
import { actsOutside, targetOfCall } from './effect-of-call.ts';
import { lastStepOf } from './ends-turn.ts';
import type { OnLoopEvent } from './loop-events.ts';
import type { LoopDeps, LoopResult, LoopRun } from './loop-run.ts';
import { createLoopTelemetry } from './loop-telemetry.ts';
import { nudgeFor } from './nudges.ts';
import { conversationText, givenText } from './plain-messages.ts';
import { repairHistory } from './repair-history.ts';
import type { RanCall } from './run-calls.ts';
import { runRecordedCalls } from './record-calls.ts';
import { askedMessage, saidMessage } from './step-messages.ts';
import { turnContext } from './turn-context.ts';
import { createTurnJudge } from './turn-judge.ts';
import { createTurnRequests } from './turn-requests.ts';
import { createTurnTools } from './turn-tools.ts';
import { withoutVendorTokens } from './vendor-tokens.ts';

/**
 * Runs one turn to its end.
 * @throws {GantryError} the reason, when the signal aborts; `model_missing`, `model_failed`, `package_missing`, `timeout` of the model; `stopped`.
 */
export type RunLoop = (run: LoopRun) => Promise<LoopResult>;

const answerTool = 'mcp_answer';
const handsOver = 'spawn_subagent';
const errorsToMoveUp = 2;
const iterationsToTell = 20;

/** Makes the loop of an agent. What it learns about models' limits is kept for later turns. */
export const createRunLoop = (deps: LoopDeps): RunLoop => {
  const { models, toolsets, limits, clock, newId, log } = deps;
  const telemetry = createLoopTelemetry();
  const ask = createAskModel({ slots: models.slots, clock, newId, limits, telemetry });
  const knownLimits: KnownLimits = new Map();

  const runTurn = async (run: LoopRun, trace: TraceContext | undefined): Promise<LoopResult> => {
    const { namespace, signal, scope } = run;
    const mayHave = run.tools ?? (() => true);
    const isWanted = scope ? (tool: ToolRegistration): boolean => scope.includes(tool.name) && mayHave(tool) : mayHave;
    const tools = createTurnTools(deps, {
      tools: isWanted,
      scope,
      isLimited: run.tools !== undefined || scope !== undefined,
    });
    const guards = createCallGuards({ maxConsecutiveErrors: limits.maxConsecutiveToolErrors });
    const toItemMessage = createItemMessages(deps.readMedia);
    const steps: TurnStep[] = [];
    let messages: readonly ModelMessage[] = repairHistory(run.messages);
    let model = models.get(run.tier);
    let lastText = '';
    let hasActed = false;
    let hasSpawned = false;
    let isNudged = false;
    /** What was streamed of the answer so far. */
    let heard = '';
    const judge = createTurnJudge(deps, run);
    const onEvent: OnLoopEvent = (event) => {
      if (event.type === 'text') heard += event.text;
      else if (event.type === 'again' || event.type === 'tool-start') heard = '';
      run.onEvent?.(event);
    };

    const contextOf = (): CallContext => turnContext(run, { model, trace, answersQuestions: tools.lists(answerTool) });
    const refresh = (): void => tools.refresh(contextOf(), model.behavior.maxTools);
    const use = (other: TierModel): void => {
      model = other;
      refresh();
      onEvent({ type: 'model', tier: other.tier, model: other.settings.modelId });
    };
    const requests = createTurnRequests(deps, {
      run,
      trace,
      tools,
      isWanted,
      ask,
      knownLimits,
      contextOf,
      modelOf: () => model,
      use,
      onEvent,
    });

    /** Leaves what was said before the last message out of the next request; false when that was done, or may not be. */
    const forget = (): boolean => {
      // Calls that were made would be made again by a model that no longer knows of them.
      const isPossible = limits.retriesFiltered === true && messages.length > 1 && steps.length === 0;
      if (!isPossible) return false;
      messages = run.messages.slice(-1);
      onEvent({ type: 'again', reason: 'the content filter stopped it, so it is asked without what was said before' });
      return true;
    };

    const close = (reason: 'iterations' | 'errors'): Promise<string> => {
      onEvent({
        type: 'again',
        reason: reason === 'errors' ? 'too many calls failed' : 'the limit of calls is reached',
      });
      return lookBack(reason);
    };
    const lookBack = (reason: ClosingReason): Promise<string> =>
      closingAnswer({ reason, messages, lastText, ask: async (given) => (await requests.ask(given, false)).step });
    const end = (answer: string, endedBy: LoopResult['endedBy'], isTold = false): LoopResult => {
      const text = judge.whole(answer);
      // Some only listen: what is said for the model, or comes from a tool, is for them too.
      if (!isTold && heard.trim() === '') onEvent({ type: 'text', text });
      return { text, steps, endedBy, tier: model.tier, model: model.settings.modelId, usage: requests.usage };
    };

    /** What to ask the model for although it has answered; undefined: the turn is over. */
    const moreOf = async (answer: string, isCutShort = false): Promise<string | undefined> => {
      const more = await judge.again({ answer, steps, hasActed, hasSpawned, isCutShort });
      if (more === undefined) return undefined;
      const isLook = judge.standing !== undefined;
      onEvent({ type: 'again', reason: isLook ? 'one further look is taken' : 'the answer seemed incomplete' });
      return more;
    };

    await toolsets.prepare(contextOf());
    refresh();
    // Only a list that holds the tool to answer with makes questions come back, which may change the list.
    refresh();
    const most = run.maxToolIterations ?? model.behavior.maxToolIterations ?? limits.maxToolIterations;
    let last = most;

    const goOn = async (iteration: number): Promise<LoopResult | undefined> => {
      throwIfAborted(signal);
      refresh();
      const reply = await requests.ask(messages, true).catch((error: unknown) => {
        if (isFiltered(error) && forget()) return undefined;
        throw error;
      });
      if (!reply) return undefined;
      const { step } = reply;
      messages = reply.sent;
      const answered = callsOf(step, {
        // One that was taken out of the turn is told so, as by a model with calls of its own.
        toolNames: [...requests.callable().map(({ name }) => name), ...tools.retired],
        readsText: model.behavior.textToolCalls === true,
        given: () => givenText(messages),
        newId,
      });
      const { calls, text } = answered;
      if (text.trim() !== '') lastText = text;

      if (calls.length === 0) {
        const answer = withoutVendorTokens(text).trim();
        const nudge =
          isNudged || judge.standing !== undefined
            ? undefined
            : nudgeFor(
                {
                  text: answer === '' ? '' : text,
                  hasTools: requests.callable().length > 0,
                  calls: steps.reduce((sum, { calls: made }) => sum + made.length, 0),
                  endedInError: guards.endedInError,
                  given: () => conversationText(messages),
                },
                model.behavior,
              );
        if (nudge !== undefined) {
          isNudged = true;
          onEvent({ type: 'again', reason: 'the answer looked unfinished' });
          messages = [...messages, saidMessage(step.parts, []), askedMessage(nudge)];
          return undefined;
        }
        if (answer !== '' || judge.standing !== undefined) {
          const more = await moreOf(answer);
          if (more === undefined) return end(answer, 'answer');
          messages = [...messages, saidMessage(step.parts, []), askedMessage(more)];
          return undefined;
        }
        if (step.finishReason === 'content-filter') return forget() ? undefined : end(refusedText, 'answer');
        onEvent({ type: 'again', reason: 'the answer was empty' });
        return end((await lookBack('empty')) || nothingSaidText, 'answer');
      }

      if (iteration >= last) {
        if (judge.standing !== undefined) return end('', 'answer');
        const answer = await close('iterations');
        const more = await moreOf(answer, true);
        if (more === undefined) return end(answer, 'iterations');
        messages = [...messages, { role: 'assistant', content: answer }, askedMessage(more)];
        last = iteration + 1 + most;
        return undefined;
      }
      const ran = await runRecordedCalls(deps, {
        calls,
        text,
        tools,
        context: contextOf(),
        isCutOff: step.isCutOff,
        gate: judge.gate,
        toItemMessage,
        steps,
        onSteps: run.onSteps,
        onEvent,
      });
      // What was left out says nothing of where the calls lead.
      const notes = guards.note(ran.slice(0, mostCallsOfAnswer));
      messages = [...messages, ...callMessages(step, answered, ran, notes, tools)];
      for (const { name, itemMessage } of ran) {
        if (!itemMessage) continue;
        messages = [...messages, itemMessage];
        tools.retire(name);
      }
      if (steps.length === iterationsToTell) onEvent({ type: 'still-working', iterations: steps.length });

      const verdict = guards.verdict();
      if (verdict !== undefined && judge.standing !== undefined) return end('', 'answer');
      if (verdict === 'timeouts') return end(timeoutsText, 'timeouts');
      if (verdict === 'errors') return end(await close('errors'), 'errors');
      hasActed ||= ran.some((done) => acts(done, deps, contextOf()));
      hasSpawned ||= ran.some(({ name, status }) => status === 'parked' || name === handsOver);
      const lastStep = lastStepOf(text, ran, toolsets, contextOf());
      if (lastStep) {
        const more = lastStep.isEndedByTool ? undefined : await moreOf(lastStep.text);
        if (more === undefined) return end(lastStep.text, 'answer', text.trim() !== '');
        messages = [...messages, askedMessage(more)];
      }
      const balanced = models.own('balanced');
      if (
        model.tier === 'low' &&
        run.isTierPinned !== true &&
        balanced &&
        (hasActed || guards.errors >= errorsToMoveUp)
      )
        use(balanced);
      return undefined;
    };

    try {
      for (let iteration = 0; ; iteration += 1) {
        const result = await goOn(iteration);
        if (result) return result;
      }
    } catch (error) {
      const isStopped = signal.aborted || (GantryError.is(error) && error.code === 'stopped');
      if (judge.standing === undefined || isStopped) throw error;
      log.warn({ namespace, reason: messageOf(error) }, 'a further look failed; the answer stands without it');
      return end('', 'answer');
    }
  };

  return async (run) => {
    const span = telemetry.turn(run.namespace, run.context?.trace);
    try {
      const result = await runTurn(run, span.trace);
      span.end({ usage: result.usage });
      return result;
    } catch (error) {
      span.end({ error });
      throw error;
    }
  };
};

const refusedText =
  'The provider of the model stopped the answer with its content filter, so there is none. Please put it in other words.';

/** A call that changes something outside. */
const acts = (call: RanCall, { toolsets }: LoopDeps, context: CallContext): boolean => {
  const target = call.isError ? undefined : targetOfCall(toolsets, call, context);
  return target !== undefined && actsOutside(target);
};
