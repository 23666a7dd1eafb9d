import { abortReason, delay, throwIfAborted } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { retryAfterMs } from './retry-after.ts';

/** Sends requests one at a time, with a pause between their starts, and again when the server is too busy. */
export interface Pacer {
  /** Gives the last answer, which is the busy one when no try was left. */
  send(request: () => Promise<Response>, signal?: AbortSignal): Promise<Response>;
}

/** How requests are spaced and repeated. */
export interface PacerOptions {
  readonly clock: Clock;
  /** Between the starts of two requests; 0 = none, but still one at a time. */
  readonly minIntervalMs: number;
  /** Further tries after HTTP 429 or 503. */
  readonly maxRetries: number;
  /** Wait before the first further try where the server names none; doubles each time. */
  readonly baseDelayMs: number;
  /** The longest wait, also where the server asks for more. */
  readonly maxDelayMs: number;
  readonly onRateLimited?: ((outcome: 'retried' | 'exhausted') => void) | undefined;
}

/** Makes a pacer. One for everything that counts towards the same limit. */
export const createPacer = (options: PacerOptions): Pacer => {
  const { clock, minIntervalMs, maxRetries, baseDelayMs, maxDelayMs, onRateLimited } = options;
  const queue = createQueue();
  let nextStartMs = Number.NEGATIVE_INFINITY;

  const start = async (request: () => Promise<Response>, signal: AbortSignal | undefined): Promise<Response> => {
    const waitMs = nextStartMs - clock.elapsedMs();
    if (waitMs > 0) await delay(clock, waitMs, signal);
    throwIfAborted(signal);
    nextStartMs = clock.elapsedMs() + minIntervalMs;
    return request();
  };

  return {
    send: async (request, signal) => {
      const leave = await queue.enter(signal);
      try {
        for (let attempt = 0; ; attempt += 1) {
          const response = await start(request, signal);
          if (response.status !== 429 && response.status !== 503) return response;
          const askedMs = retryAfterMs(response.headers.get('retry-after'), clock.nowMs());
          const waitMs = Math.min(askedMs ?? baseDelayMs * 2 ** attempt, maxDelayMs);
          // Whoever is next would be turned away as well.
          nextStartMs = Math.max(nextStartMs, clock.elapsedMs() + waitMs);
          if (attempt >= maxRetries) {
            onRateLimited?.('exhausted');
            return response;
          }
          onRateLimited?.('retried');
          await response.body?.cancel();
        }
      } finally {
        leave();
      }
    },
  };
};

/** First come, first served; who gives up while waiting leaves no gap. */
const createQueue = (): { enter(signal: AbortSignal | undefined): Promise<() => void> } => {
  const waiting: (() => void)[] = [];
  let isBusy = false;
  const leave = (): void => {
    const next = waiting.shift();
    if (next) next();
    else isBusy = false;
  };
  return {
    enter: (signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) {
          reject(abortReason(signal));
          return;
        }
        if (!isBusy) {
          isBusy = true;
          resolve(leave);
          return;
        }
        const onAbort = (): void => {
          waiting.splice(waiting.indexOf(onTurn), 1);
          reject(abortReason(signal as AbortSignal));
        };
        const onTurn = (): void => {
          signal?.removeEventListener('abort', onAbort);
          resolve(leave);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        waiting.push(onTurn);
      }),
  };
};
