import type { ModelMessage } from 'ai';
import type { ActionGate } from './action-gate.ts';
import { closedGate, createActionGate, lookOnlyGate, sharesOnlyFlag } from './action-gate.ts';
import type { AnsweredTurn, JudgeOptions } from './completion-check.ts';
import { checkCompletion } from './completion-check.ts';
import { findFollowUp, withAddition } from './follow-up.ts';
import type { LoopDeps, LoopRun } from './loop-run.ts';
import { conversationText } from './plain-messages.ts';

/** What a small model says about one turn: whether its calls may write, whether its answer is complete, whether one more look is worth it. */
export interface TurnJudge {
  /** Undefined where every call may run. Nobody asked for what a further look does, so it may not write. */
  readonly gate: ActionGate | undefined;
  /** What to ask the model for when its answer is not complete, or once more when it is; undefined: the turn is over. */
  again(turn: Omit<AnsweredTurn, 'asked' | 'isRelayed'>): Promise<string | undefined>;
  /** The answer that stands while a further look is taken, whatever comes of that. */
  readonly standing: string | undefined;
  /** The turn's answer: what stands, with what a further look has added. */
  whole(answer: string): string;
}

/** Makes the judge of a run. Only turns of conversations are judged, and only actions that a user's own message leads to. */
export const createTurnJudge = (
  { judge, log }: Pick<LoopDeps, 'judge' | 'log'>,
  { turn, namespace, context, messages, signal }: LoopRun,
): TurnJudge => {
  let tries = 0;
  let standing: string | undefined;
  const gateOf = (): ActionGate | undefined => {
    if (context?.features?.has(sharesOnlyFlag)) return closedGate;
    if (!judge?.guardsActions || turn?.origin !== 'person') return undefined;
    const { complete } = judge;
    return createActionGate({ complete, asked: turn.text, before: saidBefore(messages), namespace, signal, log });
  };
  const gate = gateOf();

  return {
    get gate() {
      return standing === undefined ? gate : lookOnlyGate;
    },
    get standing() {
      return standing;
    },
    again: async (answered) => {
      if (!judge || !turn || turn.origin === 'schedule' || standing !== undefined) return undefined;
      const given: AnsweredTurn = { ...answered, asked: turn.text, isRelayed: turn.origin === 'notice' };
      const options: JudgeOptions = { complete: judge.complete, namespace, signal, log };
      if (tries < judge.completionTries) {
        const missing = await checkCompletion(given, options);
        if (missing !== undefined) {
          tries += 1;
          return missing;
        }
      }
      // An answer that took a second try, or that a limit cut short, has cost enough; and a late result is nothing that a user asked for just now.
      const mayLook = judge.followsUp === true && turn.origin === 'person' && tries === 0;
      if (!mayLook || answered.hasSpawned || answered.isCutShort) return undefined;
      const look = await findFollowUp(given, options);
      if (look !== undefined) standing = answered.answer;
      return look;
    },
    whole: (answer) => (standing === undefined ? answer : withAddition(standing, answer)),
  };
};

/** What the agent said last before it was asked. */
const saidBefore = (messages: readonly ModelMessage[]): string | undefined => {
  const last = messages.findLast(({ role }) => role === 'assistant');
  return last && conversationText([last]);
};
