/** A task for a worker. */
export interface WorkerDefinition {
  readonly description: string;
  /** What it should know beside the task. */
  readonly background: string | undefined;
  /** Where its result is kept: a key below its own namespace, or a full key that its caller may write. */
  readonly resultKey: string | undefined;
  readonly timeoutMs: number;
  /** The only tools of servers that it has, as `{server}.{tool}` with `*` for any characters. Default: it finds them itself. */
  readonly toolsAllow: readonly string[] | undefined;
}

/** How a worker has ended. */
export interface WorkerResult {
  readonly taskId: string;
  readonly description: string;
  readonly isSuccess: boolean;
  /** Full key of its last words; undefined when it had none. */
  readonly resultKey: string | undefined;
  /** Its last words. */
  readonly text: string;
  /** Entries that it saved in working memory by itself. */
  readonly factsRecorded: number;
  /** It said that it could not go on, and why. */
  readonly isBlocked: boolean;
  /** Calls that worked more than once in the same form, most frequent first: what could be a wisp the next time. */
  readonly convergedPatterns: readonly string[];
  readonly durationMs: number;
  /** Of that, in tools. Calls that ran side by side count each. */
  readonly toolMs: number;
  readonly failureReason: string | undefined;
}

/** Namespace of a worker: its working memory, and its session for servers. */
export const workerNamespace = (taskId: string): string => `worker/${taskId}`;
