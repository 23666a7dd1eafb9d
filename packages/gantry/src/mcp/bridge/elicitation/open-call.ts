import type { JsonObject } from '../../../kernel/json.ts';
import type { ElicitationPolicy } from './policy.ts';

/** One question of a server and how it ended. Texts are on one line; values of answers are never part of it. */
export interface QuestionRound {
  readonly message: string;
  readonly fields: readonly string[];
  readonly action: 'accept' | 'decline' | 'cancel';
  /** Why it was declined, for the calling agent. */
  readonly reason?: string | undefined;
  readonly answeredFields: readonly string[];
}

/** A call in the middle of which its server may ask; shared by all rounds of the call. */
export interface OpenCall {
  readonly server: string;
  readonly tool: string;
  readonly toolDescription: string | undefined;
  readonly inputSchema: JsonObject | undefined;
  readonly args: JsonObject;
  /** Of the run that made the call: `session/{id}`, `subagent/{id}`, … */
  readonly namespace: string | undefined;
  readonly policy: ElicitationPolicy;
  /** How many questions have taken a slot. */
  readonly asked: number;
  /** Takes one of the policy's `maxPerCall` slots, or says that there is none. */
  takeSlot(): boolean;
  /** Keeps a round for the note; beyond 50 they are dropped. */
  record(round: QuestionRound): void;
  readonly rounds: readonly QuestionRound[];
}

/** Enough for every note; a server that goes on asking must not fill the memory. */
const maxRounds = 50;

/** Opens a call; `earlier` goes on where it stood before it was handed back. */
export const createOpenCall = (init: {
  readonly server: string;
  readonly tool: string;
  readonly toolDescription?: string | undefined;
  readonly inputSchema?: JsonObject | undefined;
  readonly args: JsonObject;
  readonly namespace?: string | undefined;
  readonly policy: ElicitationPolicy;
  readonly earlier?: { readonly asked: number; readonly rounds: readonly QuestionRound[] } | undefined;
}): OpenCall => {
  const { server, tool, toolDescription, inputSchema, args, namespace, policy, earlier } = init;
  const rounds: QuestionRound[] = earlier?.rounds.slice(0, maxRounds) ?? [];
  const call: { -readonly [Key in keyof OpenCall]: OpenCall[Key] } = {
    server,
    tool,
    toolDescription,
    inputSchema,
    args,
    namespace,
    policy,
    asked: earlier?.asked ?? 0,
    takeSlot: () => {
      if (call.asked >= policy.maxPerCall) return false;
      call.asked += 1;
      return true;
    },
    record: (round) => {
      if (rounds.length < maxRounds) rounds.push(round);
    },
    rounds,
  };
  return call;
};
