import type { JsonObject } from '../kernel/json.ts';
import type { PlatformPermissions } from '../tool/context.ts';

/**
 * Who said what stands as a user's turn: a person; the agent to itself (a late result, an interruption); a schedule. Only what a person
 * said counts as the user's word.
 */
export type TurnOrigin = 'person' | 'notice' | 'schedule';

/** What was said to the agent. */
export interface UserTurn {
  readonly role: 'user';
  readonly origin: TurnOrigin;
  readonly text: string;
  /** Files of the shared folder that came with it, by path. */
  readonly attachments?: readonly string[] | undefined;
  /** What the surface's platform let the agent do where it was said; absent where it has no permission model. */
  readonly permissions?: PlatformPermissions | undefined;
  /** Who said it, where several may. */
  readonly speaker?: string | undefined;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/** A call of a tool inside a turn. */
export interface TurnCall {
  readonly id: string;
  readonly name: string;
  /** With values of credential-named keys masked. */
  readonly arguments: JsonObject;
  /** `running` in a turn that has ended means that it was interrupted. */
  readonly status: 'running' | 'done' | 'failed' | 'parked';
  /** The text that the model got, cut when it is long. */
  readonly result?: string | undefined;
  /** What it put before the model in place of a result, in a line; bytes are not kept. */
  readonly shown?: string | undefined;
  readonly durationMs?: number | undefined;
}

/** One answer of the model that led to calls. */
export interface TurnStep {
  readonly text: string;
  readonly calls: readonly TurnCall[];
}

/** What the agent did and said. Written before its first call runs, and again with each result. */
export interface AssistantTurn {
  readonly role: 'assistant';
  /** `running` after a restart means that the process ended in the middle of it. */
  readonly status: 'running' | 'done' | 'failed' | 'stopped';
  /** The last words; while it runs, empty. */
  readonly text: string;
  readonly steps: readonly TurnStep[];
  readonly atMs: number;
}

/** A turn as it is stored; numbers grow, and gaps mean nothing. */
export type StoredTurn = (UserTurn | AssistantTurn) & { readonly number: number };

/** The turn of an agent that is told something by the agent itself is marked, so that no reader takes it for the user's. */
export const isOfPerson = (turn: UserTurn | AssistantTurn): turn is UserTurn =>
  turn.role === 'user' && turn.origin === 'person';
