/** How a subagent's work ended; there is exactly one for each that was started. */
export interface SubagentResult {
  readonly isSuccess: boolean;
  /** Its last words; empty when it never got to them. */
  readonly text: string;
  /** Why it did not succeed. */
  readonly error?: string | undefined;
  readonly toolCallCount: number;
  /** It was ended by its own conversation, or with the process: nobody waits for an answer to that. */
  readonly isExpected: boolean;
  /** Full keys of what it left in working memory. */
  readonly keys: readonly string[];
}

/** A subagent as it is stored, so that its conversation is told how it ended, whatever happens to the process. */
export interface SubagentRecord {
  /** Conversation that started it: `session/{id}`. */
  readonly namespace: string;
  readonly workspace?: string | undefined;
  readonly description: string;
  /** Its result may wait for those that run beside it, to be told together. */
  readonly consolidate: boolean;
  readonly startedAtMs: number;
  /** The process that runs it, by the id of its lease. */
  readonly owner: string;
  /** Absent while it runs. */
  readonly result?: SubagentResult | undefined;
  /** Its conversation has been told. */
  readonly isDelivered: boolean;
}

/** Namespace of a subagent: its whiteboard in working memory, and its session for servers. */
export const subagentNamespace = (taskId: string): string => `subagent/${taskId}`;

/** The task id in a namespace, or undefined for a namespace of another kind. */
export const taskIdOf = (namespace: string | undefined): string | undefined =>
  /^subagent\/([^/]+)$/.exec(namespace ?? '')?.[1];
