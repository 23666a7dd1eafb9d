/**
 * When a caller may try again: `never` (it will fail the same way), `later` (the cause may pass), `same` (the very same
 * request may be sent again at once, because it provably did not run).
 */
export type RetryHint = 'never' | 'later' | 'same';

/** The documented codes: when each happens and what `details` holds. Callers branch on these; people read the message. */
export type GantryErrorCode =
  /** A registration or definition breaks the tool contract. `{ name?, problem }` */
  | 'invalid_registration'
  /** A tool name is registered already. `{ name, source }` */
  | 'tool_exists'
  /** No tool of that name can be called by this caller. `{ name, nearest }` */
  | 'tool_not_found'
  /** Arguments are not JSON, or do not fit the tool's schema. `{ faults? }` */
  | 'invalid_arguments'
  /** A deadline passed. `{ timeoutMs? }` */
  | 'timeout'
  /** The caller gave up. */
  | 'cancelled'
  /** The tool ran and failed, or could not be reached. `{ server? }` */
  | 'execution_failed'
  /** A person has to sign in, or give consent again. `{ server? }` */
  | 'auth_required'
  /** A server's answer is larger than `maxResponseBytes`. `{ server?, maxBytes }` */
  | 'response_too_large'
  /** No server of that name is configured. `{ name, known }` */
  | 'server_unknown'
  /** No guide of that name is registered. `{ name, known }` */
  | 'guide_unknown'
  /** No scheduled task of that name. `{ name, known }` */
  | 'schedule_unknown'
  /** No open question of that id that this caller may answer. `{ id }` */
  | 'question_unknown'
  /** No background task of that id that this caller may cancel. `{ id }` */
  | 'task_unknown'
  /** No access token of that name. `{ name }` */
  | 'token_unknown'
  /** Nothing is kept in working memory under that key. `{ key }` */
  | 'memory_unknown'
  /** The server is configured but cannot be reached now. `{ name }` */
  | 'server_unreachable'
  /** A configuration value, file or environment variable is wrong. `{ file?, path?, line?, column? }` */
  | 'config_invalid'
  /** Command-line words, or a call of the library, that make no sense. `{ flag?, nearest?, known? }` */
  | 'usage'
  /** Another process listens on the port. `{ host, port }` */
  | 'port_in_use'
  /** The data folder cannot be created or written. `{ path }` */
  | 'data_dir_unwritable'
  /** Another gateway owns the data folder. `{ path, owner? }` */
  | 'data_dir_locked'
  /** A plugin needs one that is not there, or two need each other. `{ plugin, needs }` */
  | 'plugin_unresolved'
  /** An optional package is not installed. `{ package, install }` */
  | 'package_missing'
  /** No model is configured that could do this. `{ tier? }` */
  | 'model_missing'
  /** A model provider refused the request, failed, or gave nothing that can be used. `{ provider, model, status?, maxTokens?, usedTokens? }` */
  | 'model_failed'
  /** The store was written by a newer Gantry. `{ found, supported }` */
  | 'store_too_new'
  /** A record with this id is there already. `{ id }` */
  | 'record_exists'
  /** A document was written by another in between; read it again. `{ id, ifRevision }` */
  | 'revision_conflict'
  /** There may not be more open things of this kind. `{ limit, scope }` */
  | 'limit_reached'
  /**
   * The store's file is locked for too long, cannot be written, or is not a store; or its database cannot be reached, or refuses.
   * `{ path, errcode?, isInDoubt? }`, with `isInDoubt` when nobody knows whether a write took place.
   */
  | 'store_unavailable'
  /** A lease was lost to another owner; what it guarded must not be written. `{ name, fence }` */
  | 'lease_lost'
  /** A secret cannot be decrypted with the keys at hand. `{ name, keyId }` */
  | 'secret_unreadable'
  /** The working memory refuses an entry (namespace full, or not the caller's to write). `{ key }` */
  | 'memory_refused'
  /** A path leaves the shared folder, or is of the wrong kind. `{ path, isOutside? }` */
  | 'path_refused'
  /** An address or URL that policy does not allow. `{ reason, host?, address?, resolved? }` */
  | 'address_refused'
  /** The gateway is stopping or has stopped. */
  | 'stopped'
  /** A message cannot be encoded or decoded, is too large, or has no handler. `{ messageType? }` */
  | 'message_invalid'
  /** The broker of the bus cannot be reached, or does not take the message. `{ address, timeoutMs, reason? }` */
  | 'bus_unreachable'
  /** A subscription name serves another topic pattern already. `{ subscriptionName, pattern, wanted }` */
  | 'subscription_conflict';

/** The usual retry hint of the codes that are worth another try; all others are `never`. */
const usualRetry: Partial<Record<GantryErrorCode, RetryHint>> = {
  timeout: 'later',
  server_unreachable: 'later',
  store_unavailable: 'later',
  lease_lost: 'later',
  stopped: 'later',
  bus_unreachable: 'later',
};

/** Facts of an error beyond its message. Never holds a secret: details are logged. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

const marker = Symbol.for('gantry.error');

/**
 * The one error class of Gantry. `message` names the subject, the problem and the way out; `code` is for programs.
 * Recognise it with {@link GantryError.is}, which also works across copies of the library.
 */
export class GantryError extends Error {
  override readonly name = 'GantryError';
  readonly code: GantryErrorCode;
  readonly retry: RetryHint;
  readonly details: ErrorDetails;

  constructor(
    code: GantryErrorCode,
    message: string,
    options: { details?: ErrorDetails | undefined; retry?: RetryHint | undefined; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.retry = options.retry ?? usualRetry[code] ?? 'never';
    this.details = options.details ?? {};
    Object.defineProperty(this, marker, { value: true });
  }

  /** True for a GantryError of this or any other copy of the library. */
  static is(value: unknown): value is GantryError {
    return typeof value === 'object' && value !== null && marker in value;
  }
}

/** The message of anything thrown, without its stack. */
export const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
