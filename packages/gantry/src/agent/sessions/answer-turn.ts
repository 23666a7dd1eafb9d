import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { ConversationLog } from '../../memory/conversation-log.ts';
import type { AssistantTurn, TurnStep, UserTurn } from '../../memory/conversation-turn.ts';
import { isOfPerson } from '../../memory/conversation-turn.ts';
import type { Tier } from '../../tool/context.ts';
import { createOpaqueIds } from '../../tool/opaque-ids.ts';
import type { ContextSources, ReferredTo, TurnContext } from '../context/build-context.ts';
import { createContextBuilder } from '../context/build-context.ts';
import type { LoopResult } from '../loop/loop-run.ts';
import type { RunLoop } from '../loop/run-loop.ts';
import type { TierModels } from '../models/tier-models.ts';
import type { OnSessionEvent, SessionEvent, TurnReply } from './session-events.ts';

/** A turn that is on record and waits for its answer. */
export interface TurnToAnswer {
  readonly namespace: string;
  readonly workspace: string | undefined;
  readonly asked: UserTurn;
  readonly refersTo?: readonly ReferredTo[] | undefined;
  /** Number of the turn that is answered; what was said before is what the model sees of it. */
  readonly number: number;
  readonly tier: Tier;
  readonly isTierPinned: boolean;
  readonly receivesLateResults: boolean;
  readonly signal: AbortSignal;
  readonly onEvent?: OnSessionEvent | undefined;
}

/** Runs the loop for a turn, and records what comes of it. @throws what the loop throws. */
export type AnswerTurn = (turn: TurnToAnswer) => Promise<LoopResult>;

/** What answering works with. */
export interface AnswerTurnOptions {
  readonly models: TierModels;
  readonly runLoop: RunLoop;
  readonly conversations: ConversationLog;
  readonly context: ContextSources;
  readonly systemPrompt: string;
  readonly maxContextTurns: number;
  readonly persistErrorTurns: boolean;
  readonly publish: (namespace: string, event: SessionEvent, own?: OnSessionEvent) => void;
  readonly clock: Clock;
}

/** Why a turn ends for which a newer message came. */
export const superseded: GantryError = new GantryError(
  'cancelled',
  'A newer message of the session took the place of the turn.',
);

/** Whether it ended for that reason. */
export const isSuperseded = (signal: AbortSignal): boolean => signal.aborted && signal.reason === superseded;

/** Makes what answers turns. */
export const createAnswerTurn = (options: AnswerTurnOptions): AnswerTurn => {
  const { models, conversations, runLoop, publish, clock } = options;
  const buildContext = createContextBuilder(options.context);

  return async (turn) => {
    const { namespace, workspace, asked, number, tier, isTierPinned, signal, onEvent } = turn;
    const tell = (event: SessionEvent): void => publish(namespace, event, onEvent);
    let recordedAs: number | undefined;
    let steps: readonly TurnStep[] = [];
    let said = '';
    const write = async (status: AssistantTurn['status'], text: string): Promise<void> => {
      const record: AssistantTurn = { role: 'assistant', status, text, steps, atMs: clock.nowMs() };
      if (recordedAs === undefined) recordedAs = await conversations.append(namespace, record, { workspace });
      else await conversations.update(namespace, recordedAs, record);
    };
    tell({ type: 'turn-start', origin: asked.origin, text: asked.text });
    try {
      const model = models.get(tier);
      const before = await conversations.recentTurns(namespace, options.maxContextTurns + 1);
      // A turn that the agent makes itself, for a late result, happens where its user spoke last.
      const permissions = before.flatMap((said) => (isOfPerson(said) ? [said.permissions] : [])).at(-1);
      const ids = createOpaqueIds({ seen: JSON.stringify(before) });
      const { systemTail, messages }: TurnContext = await buildContext({
        namespace,
        workspace,
        turns: before.filter((stored) => stored.number < number),
        turn: asked,
        refersTo: turn.refersTo,
        ids,
        provider: model.facts.provider,
      });
      const result = await runLoop({
        namespace,
        workspace,
        tier,
        isTierPinned,
        systemPrompt: options.systemPrompt,
        systemTail,
        messages,
        turn: asked,
        signal,
        context: { receivesLateResults: turn.receivesLateResults, permissions, ids },
        onEvent: (event) => {
          if (event.type === 'text') said += event.text;
          else if (event.type === 'again' || event.type === 'tool-start') said = '';
          tell(event);
        },
        onSteps: async (made) => {
          steps = made;
          await write('running', '');
        },
      });
      steps = result.steps;
      await write('done', result.text);
      return result;
    } catch (error) {
      const failure = GantryError.is(error)
        ? error
        : new GantryError('execution_failed', messageOf(error), { cause: error });
      // Of a turn that was given up for a newer one, or with the process, before it did anything, there is nothing to keep.
      const isGivenUp = isSuperseded(signal) || (signal.aborted && failure.code === 'stopped');
      if (isGivenUp && steps.length === 0 && said.trim() === '') throw failure;
      if (signal.aborted) await write('stopped', said.trim());
      else if (options.persistErrorTurns || recordedAs !== undefined) await write('failed', failure.message);
      if (!isSuperseded(signal)) tell({ type: 'turn-failed', code: failure.code, message: failure.message });
      throw failure;
    }
  };
};

/** What a turn has come to, as its sender is told. */
export const toReply = (sessionId: string, { text, steps, usage, model }: LoopResult): TurnReply => ({
  sessionId,
  reply: text,
  status: 'done',
  toolCalls: steps.flatMap(({ calls }) =>
    calls.map(({ name, arguments: args, status, durationMs = 0 }) => ({
      name,
      arguments: args,
      isError: status === 'failed',
      durationMs,
    })),
  ),
  usage,
  model,
});
