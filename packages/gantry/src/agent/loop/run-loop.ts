/**
 * The loop: ask the model, run the calls of its answer, give it their results, until it answers without a call. Everything that drives
 * tools with a model is a run of it. Its parts: `turn-tools` (what may be called, one object for the turn), `ask-with-recovery` (one answer),
 * `text-calls` (calls of models that write them as text), `run-calls`, `call-guards` (when to stop), `nudges` and `closing-answer` (last words).
 */
import type { ModelMessage } from 'ai';
import { throwIfAborted } from '../../kernel/abort.ts';
import type { TurnCall, TurnStep } from '../../memory/conversation-turn.ts';
import { cutText } from '../../text/cut.ts';
import { scrubValue } from '../../text/scrub.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { CallContext, TraceContext } from '../../tool/context.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import type { TierModel } from '../models/tier-models.ts';
import { createAskModel } from './ask-model.ts';
import type { KnownLimits } from './ask-with-recovery.ts';
import { createAskWithRecovery } from './ask-with-recovery.ts';
import { createCallGuards } from './call-guards.ts';
import { closingAnswer, nothingSaidText, timeoutsText } from './closing-answer.ts';
import { createFitMessages } from './fit-messages.ts';
import type { LoopDeps, LoopResult, LoopRun, TokenUsage } from './loop-run.ts';
import { createLoopTelemetry } from './loop-telemetry.ts';
import { nudgeFor } from './nudges.ts';
import { toPlainMessages } from './plain-messages.ts';
import { repairHistory } from './repair-history.ts';
import type { RanCall } from './run-calls.ts';
import { runCalls } from './run-calls.ts';
import type { Step } from './step.ts';
import { askedMessage, resultsMessage, saidMessage } from './step-messages.ts';
import { findTextCalls } from './text-calls.ts';
import { textCallFormat } from './text-call-format.ts';
import { createTurnTools } from './turn-tools.ts';
import type { WrittenCall } from './turn-tools.ts';
import { withoutVendorTokens } from './vendor-tokens.ts';

/**
 * Runs one turn to its end.
 * @throws {GantryError} the reason, when the signal aborts; `model_missing`, `model_failed`, `package_missing`, `timeout` of the model; `stopped`.
 */
export type RunLoop = (run: LoopRun) => Promise<LoopResult>;

const resultChars = 4_000;
const answerTool = 'mcp_answer';
const errorsToMoveUp = 2;

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
    const tools = createTurnTools(deps, { tools: isWanted, scope });
    const fit = createFitMessages({
      stash: deps.stash,
      namespace,
      isExempt: (name) => tools.listed.some((tool) => tool.name === name && tool.returnsStored === true),
      isLast: (name) => tools.listed.some((tool) => tool.name === name && tool.source === 'files'),
    });
    const guards = createCallGuards({ maxConsecutiveErrors: limits.maxConsecutiveToolErrors });
    const steps: TurnStep[] = [];
    let messages: readonly ModelMessage[] = repairHistory(run.messages);
    let model = models.get(run.tier);
    let usage: TokenUsage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
    let lastText = '';
    let hasActed = false;
    let isNudged = false;

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

    /** Runs the calls of an answer; each is on record before it runs, and with its result as soon as that is there. */
    const call = async (step: Step, calls: readonly WrittenCall[], text: string): Promise<readonly RanCall[]> => {
      const record = new Map<string, TurnCall>();
      for (const written of calls) {
        const { name, arguments: args } = tools.toCall(written);
        record.set(written.id, { id: written.id, name, arguments: recorded(args), status: 'running' });
      }
      const at = steps.length;
      const write = (): Promise<void> => {
        steps[at] = { text, calls: [...record.values()] };
        return run.onSteps?.(steps.slice()) ?? Promise.resolve();
      };
      await write();
      let writing = Promise.resolve();
      try {
        return await runCalls(deps, {
          calls,
          tools,
          context: contextOf(),
          isCutOff: step.isCutOff,
          onEvent,
          onRan: ({ id, name, arguments: args, status, text: result, durationMs }) => {
            record.set(id, {
              id,
              name,
              arguments: recorded(args),
              status,
              result: cutText(result, resultChars),
              durationMs,
            });
            writing = writing.then(write);
          },
        });
      } finally {
        await writing;
      }
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

    await toolsets.prepare(contextOf());
    refresh();
    // Only a list that holds the tool to answer with makes questions come back, which may change the list.
    refresh();
    const most = run.maxToolIterations ?? model.behavior.maxToolIterations ?? limits.maxToolIterations;
    for (let iteration = 0; ; iteration += 1) {
      throwIfAborted(signal);
      refresh();
      const { step, sent } = await asked(messages, true);
      messages = sent;
      const { calls, text, isText } = callsOf(step, {
        toolNames: textTools().map(({ name }) => name),
        bareNames: model.behavior.textToolCalls === true,
        newId,
      });
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
              },
              model.behavior,
            );
        if (nudge !== undefined) {
          isNudged = true;
          onEvent({ type: 'again', reason: 'the answer looked unfinished' });
          messages = [...messages, saidMessage(step.parts, []), askedMessage(nudge)];
          continue;
        }
        if (answer !== '') return end(answer, 'answer');
        if (step.finishReason === 'content-filter') return end(refusedText, 'answer');
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
      const ran = await call(step, calls, text);
      const notes = guards.note(ran);
      const results = ran.map((done, at) => ({ ...done, output: withNote(done, notes[at]) }));
      messages = isText
        ? [
            ...messages,
            { role: 'assistant', content: step.text },
            askedMessage(
              results.map(({ name, output }) => `[Tool result for ${name}]: ${textOf(output)}`).join('\n\n'),
            ),
          ]
        : [
            ...messages,
            saidMessage(
              step.parts,
              calls.map(({ id, name, options }, at) => ({
                id,
                name: tools.historyName(name),
                arguments: ran[at]?.arguments ?? {},
                options,
              })),
            ),
            resultsMessage(
              results.map(({ id, output }, at) => ({ id, name: tools.historyName(calls[at]?.name ?? ''), output })),
            ),
          ];

      const verdict = guards.verdict();
      if (verdict === 'timeouts') return end(timeoutsText, 'timeouts');
      if (verdict === 'errors') return close('errors');
      hasActed ||= ran.some((done) => acts(done, deps, contextOf()));
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

/** The calls of an answer: the model's own, else those that it wrote as text. */
const callsOf = (
  step: Step,
  options: { readonly toolNames: readonly string[]; readonly bareNames: boolean; readonly newId: () => string },
): { readonly calls: readonly WrittenCall[]; readonly text: string; readonly isText: boolean } => {
  if (step.calls.length > 0 || options.toolNames.length === 0)
    return { calls: step.calls, text: step.text, isText: false };
  const { before, calls } = findTextCalls(step.text, options);
  return {
    text: calls.length > 0 ? before : step.text,
    isText: calls.length > 0,
    calls: calls.map(({ name, input }) => ({ id: `call_${options.newId().slice(0, 16)}`, name, input })),
  };
};

/** A call that changes something outside; what a tool does not say counts as a change. */
const acts = ({ name, isError }: RanCall, { toolsets }: LoopDeps, context: CallContext): boolean => {
  if (isError) return false;
  const registration = toolsets.find(name, context)?.registration;
  return (
    registration !== undefined &&
    registration.annotations?.readOnlyHint !== true &&
    registration.source !== 'memory' &&
    registration.source !== 'mcp:management'
  );
};

const withNote = ({ output }: RanCall, note: string | undefined): RanCall['output'] => {
  if (note === undefined) return output;
  return output.type === 'content'
    ? { type: 'content', value: [...output.value, { type: 'text', text: note }] }
    : { ...output, value: `${output.value}\n\n${note}` };
};

const textOf = (output: RanCall['output']): string =>
  output.type === 'content'
    ? output.value.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
    : output.value;

/** Arguments as they are kept: secrets masked, and what could not be read left out. */
const recorded = (args: string | JsonObject | undefined): JsonObject =>
  typeof args === 'object' ? (scrubValue(args) as JsonObject) : {};
