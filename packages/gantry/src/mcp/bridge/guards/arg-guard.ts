import type { JsonObject } from '../../../kernel/json.ts';

/** A call that is about to be sent to a server. */
export interface GuardedCall {
  readonly server: string;
  readonly tool: string;
  /** As the caller wrote them, before paths of attachments are replaced. Read only. */
  readonly args: JsonObject;
}

/**
 * Lets a call pass with `undefined`, or says why not: the argument, its value, what is allowed and why this is not, so that one more
 * attempt can be right. It changes nothing. One that throws rejects the call.
 */
export type ArgGuard = (call: GuardedCall) => Promise<string | undefined>;

/**
 * Makes a guard from the `options` of an entry.
 * @throws {GantryError} `config_invalid` for options that it cannot enforce; the server is not connected then.
 */
export type ArgGuardHandler = (options: unknown) => ArgGuard;

/** Handlers by the name that entries use. */
export type ArgGuardHandlers = Readonly<Record<string, ArgGuardHandler>>;
