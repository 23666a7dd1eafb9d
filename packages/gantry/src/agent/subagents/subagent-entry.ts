import type { TurnStep } from '../../memory/conversation-turn.ts';
import type { SubagentRecord } from './subagent-record.ts';
import type { TaskInbox } from './task-inbox.ts';

/** A subagent as the process that runs it knows it. */
export interface SubagentEntry {
  readonly taskId: string;
  readonly record: SubagentRecord;
  /** Of the record as this process wrote it. */
  readonly revision: number;
  /** What the user of its conversation had said last when it was started. */
  readonly asked: string | undefined;
  readonly controller: AbortController;
  readonly inbox: TaskInbox;
  /** On the monotonic clock. */
  readonly startedMs: number;
  steps: readonly TurnStep[];
  isCancelled: boolean;
  /** Resolves when its conversation knows how it ended. */
  ended: Promise<void>;
}
