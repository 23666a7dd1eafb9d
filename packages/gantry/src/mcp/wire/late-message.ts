/** Result that comes when nobody waits for it any more; published on `mcp.task.result.{agent}` with trust `tool-output`. */
export const lateResultType = 'McpLateResult';

/** How a call ended that its session was told of as parked, or that a restart interrupted. The result itself is in working memory. */
export interface McpLateResult {
  /** Of the session: `session/{id}` or `subagent/{id}`. */
  readonly namespace: string;
  /** A background task, a call that went on after a person answered its question, or one that a restart interrupted. */
  readonly kind: 'task' | 'question' | 'interrupted';
  /** Of the task or question. */
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly status: 'done' | 'failed' | 'parked';
  /** The text of the result, while it is short enough to be said inline. */
  readonly text?: string | undefined;
  /** Where the whole text is kept; undefined when it could not be kept. */
  readonly key?: string | undefined;
}
