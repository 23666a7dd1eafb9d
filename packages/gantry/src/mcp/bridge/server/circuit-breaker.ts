import type { Clock } from '../../../kernel/clock.ts';

/** Counts the failures of a server in a row, and says when it is to be left alone. */
export interface CircuitBreaker {
  readonly failures: number;
  /** An attempt failed, or a connection did not last. */
  failed(): void;
  /** An attempt succeeded. The count stays until the connection has lasted: see {@link CircuitBreaker.reset}. */
  close(): void;
  /** Everything is forgotten: the server has proved itself, its entry was changed, or a person said so. */
  reset(): void;
  /** How long the server is still to be left alone, 0 when it is not. */
  openForMs(): number;
  /** How long to wait before the next of the attempts that come soon. */
  retryDelayMs(): number;
}

/** When a breaker opens, and for how long. */
export interface CircuitBreakerOptions {
  readonly clock: Clock;
  /** How many further attempts come soon after a first one. */
  readonly retryCount: number;
  readonly retryBaseDelayMs: number;
  /** The first cool-down; each further failure doubles it, up to ten times as long. */
  readonly coolDownMs: number;
  /** From 0 to 1: waits get up to a tenth longer by chance, so that many servers or many gateways do not try all at once. */
  readonly random: () => number;
}

// Fewer failures are a server that restarts.
const leastFailures = 3;
const longestCoolDown = 10;
const jitter = 0.1;

/** Makes a closed breaker. */
export const createCircuitBreaker = (options: CircuitBreakerOptions): CircuitBreaker => {
  const { clock, retryCount, retryBaseDelayMs, coolDownMs, random } = options;
  const opensAt = Math.max(leastFailures, retryCount + 1);
  let failures = 0;
  let openUntilMs = 0;

  const spread = (delayMs: number): number => delayMs * (1 + jitter * random());

  return {
    get failures() {
      return failures;
    },
    failed: () => {
      failures += 1;
      if (failures < opensAt) return;
      openUntilMs = clock.elapsedMs() + spread(coolDownMs * Math.min(2 ** (failures - opensAt), longestCoolDown));
    },
    close: () => {
      openUntilMs = 0;
    },
    reset: () => {
      failures = 0;
      openUntilMs = 0;
    },
    openForMs: () => Math.max(0, openUntilMs - clock.elapsedMs()),
    retryDelayMs: () => spread(retryBaseDelayMs * 2 ** Math.max(0, failures - 1)),
  };
};
