import type { Headers } from '../../../bus/envelope.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { QuestionRound } from '../elicitation/open-call.ts';

/** What following a task needs. It holds arguments and the server's own id of the task, so it is stored sealed only. */
export interface TaskHold {
  /** The server's id, which nobody else is shown. */
  readonly taskId: string;
  /** As the caller wrote them. */
  readonly args: JsonObject;
  /** As they were sent. */
  readonly sentArgs: JsonObject;
  /** The caller, as headers. */
  readonly context: Headers;
}

/** A background task as it is stored. Holds no result and no answer. */
export interface TaskRecord {
  readonly session: string;
  readonly server: string;
  readonly serverId: string;
  /** Of the entry's address; a task of another server is not followed. */
  readonly identityHash: string;
  readonly tool: string;
  /** Redacted. */
  readonly arguments: JsonObject;
  readonly startedAtMs: number;
  /** When it is given up. */
  readonly deadlineAtMs: number;
  /** What the server said of it last, on one line. */
  readonly statusMessage?: string | undefined;
  /** Keys of questions that were answered: each is answered once (SEP-2663). */
  readonly answeredKeys: readonly string[];
  /** Questions counted against `maxPerCall`, and how they were answered. */
  readonly asked: number;
  readonly rounds: readonly QuestionRound[];
  /** The {@link TaskHold}; gone once the task has ended. */
  readonly sealed: string | undefined;
}

/** How a task ended. `lost`: the server does not know it any more, or cannot be asked. */
export type TaskEnd = 'completed' | 'failed' | 'timeout' | 'lost' | 'cancelled';
