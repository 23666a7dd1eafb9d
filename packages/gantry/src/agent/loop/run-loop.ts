/**
 * The loop: ask the model, run the calls of its answer, give it their results, until it answers without a call. Everything that drives
 * tools with a model is a run of it. Its parts: `turn-tools` (what may be called, one object for the turn), `ask-with-recovery` (one answer),
 * `call-messages` (which calls, and how they are told), `record-calls`, `call-guards` (when to stop), `nudges`, `turn-judge` and `closing-answer`
 * (last words).
 */
import type { ModelMessage } from 'ai';
import { throwIfAborted } from '../../kernel/abort.ts';
import type { TurnStep } from '../../memory/conversation-turn.ts';
import type { CallContext, TraceContext } from '../../tool/context.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import { isFiltered } from '../models/model-error.ts';
import type { TierModel } from '../models/tier-models.ts';
import { createAskModel } from './ask-model.ts';
import type { KnownLimits } from './ask-with-recovery.ts';
import { createAskWithRecovery } from './ask-with-recovery.ts';
import { createCallGuards } from './call-guards.ts';
import { callMessages, callsOf } from './call-messages.ts';
import { closingAnswer, nothingSaidText, timeoutsText } from './closing-answer.ts';
import { actsOutside, targetOfCall } from './effect-of-call.ts';
import { lastStepOf } from './ends-turn.ts';
import { createFitMessages } from './fit-messages.ts';
import type { LoopDeps, LoopResult, LoopRun, TokenUsage } from './loop-run.ts';
import { createLoopTelemetry } from './loop-telemetry.ts';
import { nudgeFor } from './nudges.ts';
import { conversationText, givenText, toPlainMessages } from './plain-messages.ts';
import { repairHistory } from './repair-history.ts';
import type { RanCall } from './run-calls.ts';
import { runRecordedCalls } from './record-calls.ts';
import type { Step } from './step.ts';
import { askedMessage, saidMessage } from './step-messages.ts';
import { textCallFormat } from './text-call-format.ts';
import { createTurnJudge } from './turn-judge.ts';
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
  const ask = createAskModel({ clock, newId, limits, telemetry });
  const knownLimits: KnownLimits = new Map();

  const runTurn = async (run: LoopRun, trace: TraceContext | undefined): Promise<LoopResult> => {
    const { namespace, workspace, signal, scope, onEvent = () => {} } = run;
    const mayHave = run.tools ?? (() => true);
    const isWanted = scope ? (tool: ToolRegistration): boolean => scope.includes(tool.name) && mayHave(tool) : mayHave;
    const tools = createTurnTools(deps, {
      tools: isWanted,
      scope,
      isLimited: run.tools !== undefined || scope !== undefined,
    });
    const fit = createFitMessages({
      stash: deps.stash,
      namespace,
      isExempt: (name) => textTools().some((tool) => tool.name === name && tool.returnsStored === true),
      isLast: (name) => textTools().some((tool) => tool.name === name && tool.source === 'files'),
    });
    const guards = createCallGuards({ maxConsecutiveErrors: limits.maxConsecutiveToolErrors });
    const steps: TurnStep[] = [];
    let messages: readonly ModelMessage[] = repairHistory(run.messages);
    let model = models.get(run.tier);
    let usage: TokenUsage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
    let lastText = '';
    let hasActed = false;
    let hasSpawned = false;
    let isNudged = false;
    const judge = createTurnJudge(deps, run);

    const contextOf = (): CallContext => {
      const context: CallContext = {
        receivesLateResults: true,
        // A mode that lists no tools of servers would also refuse those that the run was given by name.
        ...(scope && { wrapperMode: 'lazy' }),
        ...run.context,
        caller: 'model',
        namespace,
        workspace,
        tier: model.tier,
        model: model.facts,
        trace,
        signal,
      };
      // Whether a question can be handed back depends on whether this run has the tool to answer it with.
      return { ...context, answersQuestions: tools.lists(answerTool) };
    };
    const refresh = (): void => tools.refresh(contextOf(), model.behavior.maxTools);
    const use = (other: TierModel): void => {
      model = other;
      refresh();
      onEvent({ type: 'model', tier: other.tier, model: other.settings.modelId });
    };
    const recover = createAskWithRecovery({ ask, models, limits: knownLimits, fit, log, onModel: use });

    const writesCallsAsText = (): boolean =>
      model.behavior.textToolCalls === true && model.facts.capabilities?.['has_tools'] === false;
    const textTools = () =>
      writesCallsAsText()
        ? toolsets
            .for({
              ...contextOf(),
              model: { ...model.facts, capabilities: { ...model.facts.capabilities, has_tools: true } },
            })
            .tools.filter(isWanted)
        : tools.listed;

    const instructions = (): string => {
      const listed = textTools();
      const isOriented = scope === undefined && listed.some(({ source }) => source.startsWith('mcp:'));
      const orientation = isOriented ? deps.orientation(contextOf()) : undefined;
      return [
        run.systemPrompt,
        orientation,
        run.systemTail?.(),
        model.behavior.extraPrompt,
        writesCallsAsText() ? textCallFormat(listed) : undefined,
        fit.notice(),
      ]
        .filter((part) => part !== undefined && part !== '')
        .join('\n\n');
    };

    const asked = async (
      given: readonly ModelMessage[],
      withTools: boolean,
    ): Promise<{ step: Step; sent: readonly ModelMessage[] }> => {
      const { step, messages: sent } = await recover(model, {
        messages: given,
        // Some providers refuse calls in a history without tools.
        adapt: ({ facts }, said) => (facts.capabilities?.['has_tools'] === false ? toPlainMessages(said) : said),
        instructions,
        tools: withTools ? tools : undefined,
        trace,
        signal,
        onEvent,
      });
      usage = {
        inputTokens: usage.inputTokens + step.usage.inputTokens,
        outputTokens: usage.outputTokens + step.usage.outputTokens,
        cachedTokens: usage.cachedTokens + step.usage.cachedTokens,
      };
      return { step, sent };
    };

    /** Leaves what was said before the last message out of the next request; false when that was done, or may not be. */
    const forget = (): boolean => {
      // Calls that were made would be made again by a model that no longer knows of them.
      const isPossible = limits.retriesFiltered === true && messages.length > 1 && steps.length === 0;
      if (!isPossible) return false;
      messages = run.messages.slice(-1);
      onEvent({ type: 'again', reason: 'the content filter stopped it, so it is asked without what was said before' });
      return true;
    };

    const close = async (reason: 'iterations' | 'errors'): Promise<LoopResult> => {
      onEvent({
        type: 'again',
        reason: reason === 'errors' ? 'too many calls failed' : 'the limit of calls is reached',
      });
      const text = await closingAnswer({
        reason,
        messages,
        lastText,
        ask: async (given) => (await asked(given, false)).step,
      });
      return end(text, reason);
    };
    const end = (text: string, endedBy: LoopResult['endedBy']): LoopResult => ({
      text,
      steps,
      endedBy,
      tier: model.tier,
      model: model.settings.modelId,
      usage,
    });

    /** What to ask for when the answer is not complete; undefined: it stands. */
    const missingIn = async (answer: string): Promise<string | undefined> => {
      const more = await judge.again({ answer, steps, hasActed, hasSpawned });
      if (more !== undefined) onEvent({ type: 'again', reason: 'the answer seemed incomplete' });
      return more;
    };

    await toolsets.prepare(contextOf());
    refresh();
    // Only a list that holds the tool to answer with makes questions come back, which may change the list.
    refresh();
    const most = run.maxToolIterations ?? model.behavior.maxToolIterations ?? limits.maxToolIterations;
    for (let iteration = 0; ; iteration += 1) {
      throwIfAborted(signal);
      refresh();
      const reply = await asked(messages, true).catch((error: unknown) => {
        if (isFiltered(error) && forget()) return undefined;
        throw error;
      });
      if (!reply) continue;
      const { step } = reply;
      messages = reply.sent;
      const answered = callsOf(step, {
        toolNames: textTools().map(({ name }) => name),
        readsText: model.behavior.textToolCalls === true,
        given: () => givenText(messages),
        newId,
      });
      const { calls, text } = answered;
      if (text.trim() !== '') lastText = text;

      if (calls.length === 0) {
        const answer = withoutVendorTokens(text).trim();
        const nudge = isNudged
          ? undefined
          : nudgeFor(
              {
                text: answer === '' ? '' : text,
                hasTools: textTools().length > 0,
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
          continue;
        }
        if (answer !== '') {
          const more = await missingIn(answer);
          if (more === undefined) return end(answer, 'answer');
          messages = [...messages, saidMessage(step.parts, []), askedMessage(more)];
          continue;
        }
        if (step.finishReason === 'content-filter') {
          if (forget()) continue;
          return end(refusedText, 'answer');
        }
        onEvent({ type: 'again', reason: 'the answer was empty' });
        const closing = await closingAnswer({
          reason: 'empty',
          messages,
          lastText,
          ask: async (given) => (await asked(given, false)).step,
        });
        return end(closing || nothingSaidText, 'answer');
      }

      if (iteration >= most) return close('iterations');
      const ran = await runRecordedCalls(deps, {
        calls,
        text,
        tools,
        context: contextOf(),
        isCutOff: step.isCutOff,
        gate: judge.gate,
        steps,
        onSteps: run.onSteps,
        onEvent,
      });
      messages = [...messages, ...callMessages(step, answered, ran, guards.note(ran), tools)];
      if (steps.length === iterationsToTell) onEvent({ type: 'still-working', iterations: steps.length });

      const verdict = guards.verdict();
      if (verdict === 'timeouts') return end(timeoutsText, 'timeouts');
      if (verdict === 'errors') return close('errors');
      hasActed ||= ran.some((done) => acts(done, deps, contextOf()));
      hasSpawned ||= ran.some(({ name, status }) => status === 'parked' || name === handsOver);
      const last = lastStepOf(text, ran, toolsets, contextOf());
      if (last) {
        const more = last.isEndedByTool ? undefined : await missingIn(last.text);
        if (more === undefined) return end(last.text, 'answer');
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
