/**
 * Vectors of texts, one for each, in the order of the texts. Texts that mean nearly the same have vectors that point nearly the same way;
 * how long they are does not matter.
 * @throws when the model fails, or the signal aborts.
 */
export type EmbedTexts = (texts: readonly string[], signal: AbortSignal) => Promise<readonly Float32Array[]>;

/** A model that turns texts into vectors. Rooms that search by meaning get one from the host, where the operator has configured it. */
export interface EmbeddingModel {
  /** Names the model and its settings: vectors are kept under it, and those of another id are of no use to this one. */
  readonly id: string;
  readonly embed: EmbedTexts;
}
