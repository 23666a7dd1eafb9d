import type { LoopEvent } from '../loop/loop-events.ts';
import type { TokenUsage } from '../loop/loop-run.ts';
import type { TurnOrigin } from '../../memory/conversation-turn.ts';

/** A call as a reply reports it. */
export interface RepliedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
  readonly durationMs: number;
}

/** How a turn ended. */
export interface TurnReply {
  readonly sessionId: string;
  /** The answer; empty when a newer message took the turn's place. */
  readonly reply: string;
  /** `superseded`: a newer message of the same session came, and answers for both. */
  readonly status: 'done' | 'superseded';
  readonly toolCalls: readonly RepliedCall[];
  readonly usage: TokenUsage;
  /** The model that answered. */
  readonly model: string;
}

/** What happens in a session, as it happens. */
export type SessionEvent =
  | LoopEvent
  /** Another process answers in the session, or died while it did; the turn begins when its claim ends, in some seconds. */
  | { readonly type: 'waiting'; readonly reason: string }
  /** A turn begins, and what it answers. */
  | { readonly type: 'turn-start'; readonly origin: TurnOrigin; readonly text: string }
  /** The agent was told something that it does not answer. */
  | { readonly type: 'notice'; readonly text: string }
  | ({ readonly type: 'turn-end' } & TurnReply)
  /** The turn ended without an answer: a failure, or it was stopped. */
  | { readonly type: 'turn-failed'; readonly code: string; readonly message: string };

/** Hears what happens in a session. Must not throw. */
export type OnSessionEvent = (event: SessionEvent) => void;
