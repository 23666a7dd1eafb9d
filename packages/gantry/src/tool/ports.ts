/** Keeps a text where its reader can fetch it later; gives the key, or undefined when there is nowhere to keep it. */
export type StashText = (entry: {
  /** Working-memory namespace of the reader. */
  readonly namespace: string;
  /** The key below the namespace. */
  readonly key: string;
  readonly text: string;
  readonly category: string;
  readonly ttlMs: number;
}) => Promise<string | undefined>;

/**
 * Tells a session something that nobody of it waits for, as a turn of its own that never counts as the user's. At least once: the same
 * notice may come again after a crash.
 */
export type Notify = (notice: {
  /** The session: `session/{id}` or `subagent/{id}`. */
  readonly namespace: string;
  /** `interrupted` is put on record and not answered. */
  readonly kind: 'task' | 'question' | 'subagent' | 'interrupted';
  readonly text: string;
  /** Where the whole of it is kept in working memory. */
  readonly key?: string | undefined;
}) => Promise<void>;
