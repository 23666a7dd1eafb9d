/** What servers hold for a run, to be let go when it ends. */
export interface RunHoldings {
  /** The open background tasks of a run, by id. */
  openTasks(namespace: string): Promise<readonly string[]>;
  cancelTask(id: string, namespace: string): Promise<unknown>;
  /** Cancels the questions that a run has left open. */
  releaseQuestions(namespace: string): Promise<void>;
}
