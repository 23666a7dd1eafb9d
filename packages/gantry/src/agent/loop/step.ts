import type { AssistantModelMessage, FinishReason } from 'ai';
import type { TokenUsage } from './loop-run.ts';
import type { WrittenCall } from './turn-tools.ts';

/** One complete answer of a model. */
export interface Step {
  /** What it said beside its calls. */
  readonly text: string;
  readonly calls: readonly WrittenCall[];
  /** The arguments may be cut, so no call of this answer may run. */
  readonly isCutOff: boolean;
  readonly finishReason: FinishReason;
  /** Its parts as they are sent back to the provider, without calls. */
  readonly parts: readonly SaidPart[];
  readonly usage: TokenUsage;
}

/** A part of an answer that is no call of a tool of ours. */
export type SaidPart = Exclude<Extract<AssistantModelMessage['content'], unknown[]>[number], { type: 'tool-call' }>;
