/** What a caller whose call names no tool is told beside near names of those he may run. Names only what he may have. */
export interface MissingHint {
  /** Names of tools of his that were probably meant, best first. */
  readonly near?: readonly string[] | undefined;
  /** Why there is no such tool, or what to call in its place. */
  readonly text?: string | undefined;
}
