import type { ModelMessage } from 'ai';
import type { ActionGate } from './action-gate.ts';
import { closedGate, createActionGate, sharesOnlyFlag } from './action-gate.ts';
import type { AnsweredTurn } from './completion-check.ts';
import { checkCompletion } from './completion-check.ts';
import type { LoopDeps, LoopRun } from './loop-run.ts';
import { conversationText } from './plain-messages.ts';

/** What a small model says about one turn: whether its calls may write, and whether its answer is complete. */
export interface TurnJudge {
  /** Undefined where every call may run. */
  readonly gate: ActionGate | undefined;
  /** What to ask the model for when its answer is not complete; undefined: it stands. */
  again(turn: Omit<AnsweredTurn, 'asked' | 'isRelayed'>): Promise<string | undefined>;
}

/** Makes the judge of a run. Only turns of conversations are judged, and only actions that a user's own message leads to. */
export const createTurnJudge = (
  { judge, log }: Pick<LoopDeps, 'judge' | 'log'>,
  { turn, namespace, context, messages, signal }: LoopRun,
): TurnJudge => {
  let tries = 0;
  const gateOf = (): ActionGate | undefined => {
    if (context?.features?.has(sharesOnlyFlag)) return closedGate;
    if (!judge?.guardsActions || turn?.origin !== 'person') return undefined;
    const { complete } = judge;
    return createActionGate({ complete, asked: turn.text, before: saidBefore(messages), namespace, signal, log });
  };
  return {
    gate: gateOf(),
    again: async (answered) => {
      if (!judge || !turn || turn.origin === 'schedule' || tries >= judge.completionTries) return undefined;
      tries += 1;
      const { complete } = judge;
      const isRelayed = turn.origin === 'notice';
      return checkCompletion({ ...answered, asked: turn.text, isRelayed }, { complete, namespace, signal, log });
    },
  };
};

/** What the agent said last before it was asked. */
const saidBefore = (messages: readonly ModelMessage[]): string | undefined => {
  const last = messages.findLast(({ role }) => role === 'assistant');
  return last && conversationText([last]);
};
