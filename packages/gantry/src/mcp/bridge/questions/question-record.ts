import type { Headers } from '../../../bus/envelope.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { CallState } from '../call/rounds.ts';
import type { Form } from '../elicitation/form.ts';
import type { QuestionRound } from '../elicitation/open-call.ts';

/** Everything that is needed to go on with a call in another process. It holds arguments and the server's state, so it is stored sealed only. */
export interface Continuation {
  readonly tool: string;
  /** As the caller wrote them. */
  readonly args: JsonObject;
  /** As they are sent. */
  readonly sentArgs: JsonObject;
  /** Of the request that is asked. */
  readonly key: string;
  readonly state: CallState;
  /** What the operator's defaults answer already. */
  readonly settled: JsonObject;
  /** The caller, as headers. */
  readonly context: Headers;
  /** How many questions were counted against the call. */
  readonly asked: number;
  readonly rounds: readonly QuestionRound[];
}

/** An open or settled question as it is stored. Holds no answer, and the server's state and the arguments only sealed. */
export interface QuestionRecord {
  /** The session that may answer; undefined for a call without one, which a person answers. */
  readonly session: string | undefined;
  readonly server: string;
  readonly serverId: string;
  /** Of the entry's policy and address; a question of another policy is not answered. */
  readonly policyHash: string;
  readonly call: {
    readonly tool: string;
    /** At most 300 characters. */
    readonly toolDescription: string | undefined;
    /** Redacted. */
    readonly arguments: JsonObject;
    readonly startedAtMs: number;
    /** 1 for the first question of the call. */
    readonly round: number;
    readonly earlierRounds: readonly QuestionRound[];
  };
  /** What the user had said last. */
  readonly triggeredBy: { readonly atMs: number; readonly userExcerpt: string } | undefined;
  /** The background task that asks, if it is one. */
  readonly task?: string | undefined;
  /** Flattened, as it is shown. */
  readonly form: Form;
  /** The {@link Continuation}; gone once the call has gone on and ended. */
  readonly sealed: string | undefined;
  /** When the call that the answer let go on has ended, and its outcome was told. */
  readonly endedAtMs?: number | undefined;
  /** When the session was told that the call was interrupted. */
  readonly notifiedAtMs?: number | undefined;
}
