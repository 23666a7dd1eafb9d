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
