/** What differs by model, beyond how it is reached. All have a default. */
export interface ModelBehavior {
  /** Longest tool result, in characters, that is given whole; default 64,000. */
  readonly toolResultChunkingThreshold?: number | undefined;
  /** Rounds of tool calls in one turn; default that of the loop. */
  readonly maxToolIterations?: number | undefined;
  /** The most tools in one request; default 120. */
  readonly maxTools?: number | undefined;
  /** False: the model is shown no tools. Default what its tier says. */
  readonly supportsTools?: boolean | undefined;
  /** Reads calls that the model writes as text; default false. */
  readonly textToolCalls?: boolean | undefined;
  /** Requests are shortened from so many tokens on, as if no more fitted into the model's context; default never. */
  readonly shortenAboveTokens?: number | undefined;
  /** In requests a result of a tool is shown with at most so many characters, its beginning and end; the whole is kept. Default no limit. */
  readonly maxShownResultChars?: number | undefined;
  /** Added to what the model is told at the start. */
  readonly extraPrompt?: string | undefined;
  /** Asks again when the model claims an action, or names an id, and no call was made; default true only where no prefix fits. */
  readonly nudgeHallucinatedActions?: boolean | undefined;
  /** Asks again when the model writes the syntax of a call into its answer; default false. */
  readonly nudgeLeakedSyntax?: boolean | undefined;
  /** Asks again when the answer has Chinese, Japanese or Korean characters that nothing it was given had or asked for; default false. */
  readonly nudgeUnexpectedCjk?: boolean | undefined;
  /** Asks again when the model gives up right after a failed call; default true. */
  readonly nudgeGivingUp?: boolean | undefined;
}

/** Behaviours by prefix of the model's id. */
export type ModelBehaviors = Readonly<Record<string, ModelBehavior>>;

/** What is configured for a model: that of the longest prefix of its id, whatever the case; undefined when none fits. */
export const behaviorOf = (behaviors: ModelBehaviors, modelId: string | undefined): ModelBehavior | undefined => {
  const id = modelId?.toLowerCase();
  if (id === undefined) return undefined;
  let longest = -1;
  let found: ModelBehavior | undefined;
  for (const [prefix, behavior] of Object.entries(behaviors)) {
    if (prefix.length <= longest || !id.startsWith(prefix.toLowerCase())) continue;
    longest = prefix.length;
    found = behavior;
  }
  return found;
};
