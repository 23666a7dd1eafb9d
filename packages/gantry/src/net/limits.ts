/** How long each stage of one call may take and how much it may bring. `Infinity` switches a limit off, for event streams say. */
export interface CallLimits {
  /** From the request being sent to the end of the answer's headers. */
  readonly headersMs: number;
  /** Between two pieces of the body. */
  readonly idleMs: number;
  /** The whole call with its redirects, to the last byte of the body. */
  readonly totalMs: number;
  /** Body bytes after decompression. */
  readonly maxBytes: number;
  readonly maxRedirects: number;
}

/** Limits that hold for all calls of a client. */
export interface ConnectionLimits {
  readonly dnsMs: number;
  /** Reaching one of the addresses, TLS included. */
  readonly connectMs: number;
  readonly maxHeaderBytes: number;
}

/** The limits of a call that says nothing else. */
export const defaultCallLimits: CallLimits = {
  headersMs: 10_000,
  idleMs: 10_000,
  totalMs: 30_000,
  maxBytes: 32 * 1024 * 1024,
  maxRedirects: 5,
};

/** The connection limits of a client that says nothing else. */
export const defaultConnectionLimits: ConnectionLimits = { dnsMs: 5_000, connectMs: 5_000, maxHeaderBytes: 32 * 1024 };
