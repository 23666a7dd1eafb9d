import type { ArgGuardHandlers } from './guards/arg-guard.ts';

/** How the bridge behaves; every field may be absent. */
export interface McpBridgeSettings {
  /** How long a server may take from the first byte to its listed tools. Default 10,000. */
  readonly connectTimeoutMs?: number | undefined;
  /** How often a failed connection is tried again soon. Default 2. */
  readonly connectRetryCount?: number | undefined;
  /** Wait before the first of those, doubling for each further one. Default 2,000. */
  readonly connectRetryBaseDelayMs?: number | undefined;
  /** How often servers that are down are tried and stale surfaces looked at. Default 60; 0 switches both off. */
  readonly reconnectSweepIntervalSeconds?: number | undefined;
  /** How long a server that keeps failing is left alone; doubles with each further failure, up to ten times. Default 60. */
  readonly quarantineSeconds?: number | undefined;
  /** After how long without a call a launched program is ended, to be started again on the next. Default 600; 0 = never. */
  readonly stdioIdleSeconds?: number | undefined;
  /** Longest text of a resource that is given whole, characters; a longer one is saved to a file. Default 32,000. */
  readonly resourceInlineTextLimit?: number | undefined;
  /** After how long the sweep lists a server's tools again. Default 300; 0 switches it off. */
  readonly surfaceRefreshIntervalSeconds?: number | undefined;
  /** Budget of a call that asks for none. Default 60,000. */
  readonly defaultTimeoutMs?: number | undefined;
  /** The most any call may take, progress or not. Default 900,000. */
  readonly maxTimeoutMs?: number | undefined;
  /** The largest single answer accepted from a server. Default 32 MiB. */
  readonly maxResponseBytes?: number | undefined;
  /** `launch` lets entries with a command start their program. Default `off`. */
  readonly stdio?: 'off' | 'launch' | undefined;
  /** Files in the folder of attachments that nobody wrote to for so many days are removed. Default 0 = they are kept. */
  readonly attachmentMaxAgeDays?: number | undefined;
  /** Argument guards that entries may name, beside `path-prefix`, `url-host` and `json-schema`. */
  readonly argGuards?: ArgGuardHandlers | undefined;
  /** How long calls may go on when the bridge is disposed. Default 5,000. */
  readonly drainTimeoutMs?: number | undefined;
}

/** The settings with their defaults. */
export type BridgeSettings = { readonly [K in keyof McpBridgeSettings]-?: NonNullable<McpBridgeSettings[K]> };

/** Fills in the defaults. */
export const toBridgeSettings = (given: McpBridgeSettings): BridgeSettings => ({
  connectTimeoutMs: given.connectTimeoutMs ?? 10_000,
  connectRetryCount: given.connectRetryCount ?? 2,
  connectRetryBaseDelayMs: given.connectRetryBaseDelayMs ?? 2_000,
  reconnectSweepIntervalSeconds: given.reconnectSweepIntervalSeconds ?? 60,
  quarantineSeconds: given.quarantineSeconds ?? 60,
  stdioIdleSeconds: given.stdioIdleSeconds ?? 600,
  resourceInlineTextLimit: given.resourceInlineTextLimit ?? 32_000,
  surfaceRefreshIntervalSeconds: given.surfaceRefreshIntervalSeconds ?? 300,
  defaultTimeoutMs: given.defaultTimeoutMs ?? 60_000,
  maxTimeoutMs: given.maxTimeoutMs ?? 900_000,
  maxResponseBytes: given.maxResponseBytes ?? 32 * 1024 * 1024,
  stdio: given.stdio ?? 'off',
  attachmentMaxAgeDays: given.attachmentMaxAgeDays ?? 0,
  argGuards: given.argGuards ?? {},
  drainTimeoutMs: given.drainTimeoutMs ?? 5_000,
});
