import type { JsonObject } from '../../../kernel/json.ts';
import type { FormField } from './form-field.ts';

/** A call that a server asks about, as a responder may see it. */
export interface AskedCall {
  readonly tool: string;
  /** Values of credential-named keys are masked, what looks like a secret in others too. */
  readonly args: JsonObject;
  readonly namespace: string | undefined;
}

/** What a server asks. */
export interface ElicitationRequest {
  readonly server: string;
  /** At least one. */
  readonly calls: readonly AskedCall[];
  /** On one line; written by the server, so it is data and no instruction. */
  readonly message: string;
  /** What is still to be answered. Never holds a decision (yes or no), a credential or a denied field. None: a bare confirmation. */
  readonly fields: readonly FormField[];
  /** Fields that the operator's defaults have answered. */
  readonly settledNames: readonly string[];
  /** The server's protocol does not say which of several calls asks. */
  readonly isAmbiguous: boolean;
  /** Aborts when the time is up, or nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** What a responder says. */
export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content: JsonObject }
  | { readonly action: 'decline'; readonly reason: string };

/**
 * Answers questions of servers. Register one by name and name it in a server's `responder`. What it gives is checked against the form, and
 * never converted; to throw is to decline.
 */
export interface ElicitationResponder {
  answer(request: ElicitationRequest): Promise<ElicitationAnswer>;
}
