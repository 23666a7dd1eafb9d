import type { Tier } from './context.ts';

/** One answer of a model, without tools and without a conversation. Rooms that need a model get this from the host. */
export interface ModelPort {
  /**
   * The model's answer as text.
   * @throws {GantryError} when there is no such model, it fails, or the signal aborts.
   */
  complete(request: {
    readonly tier: Tier;
    readonly system: string;
    readonly prompt: string;
    /** Caps the answer; default what is configured for the model. */
    readonly maxOutputTokens?: number | undefined;
    /** The run that pays for it (`session/{id}`, …). Nothing is written there. */
    readonly namespace?: string | undefined;
    /** Nobody waits for the answer: it is asked for when no other call of a model waits. Default false. */
    readonly isBackground?: boolean | undefined;
    readonly signal: AbortSignal;
  }): Promise<string>;
}
