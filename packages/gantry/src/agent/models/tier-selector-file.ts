import { readFileSync } from 'node:fs';
import * as z from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { messageOf } from '../../kernel/errors.ts';
import { parseJson } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { TierThresholds } from './choose-tier.ts';

const readEveryMs = 60_000;
const score = z.number().min(0).max(1);
const words = z.array(z.string().min(1).max(200)).max(1_000);
const fileSchema = z.strictObject({
  version: z.number().optional(),
  notes: z.string().optional(),
  lowCeiling: score.optional(),
  balancedCeiling: score.optional(),
  highSignalKeywords: words.optional(),
  lowSignalKeywords: words.optional(),
});

/**
 * Thresholds that a file may change while the process runs: `{ "lowCeiling", "balancedCeiling", "highSignalKeywords", "lowSignalKeywords" }`, each
 * optional; a threshold that it does not name is the configured one. Looked at anew at most once in 60 seconds, when a message comes; its members
 * are read afresh each time. A file that cannot be used is reported once and changes nothing; one that is gone brings the configured thresholds
 * back.
 */
export const createTierSelectorFile = (options: {
  readonly path: string;
  readonly configured: TierThresholds;
  readonly clock: Clock;
  readonly log: Log;
}): TierThresholds => {
  const { path, configured, clock, log } = options;
  let current = configured;
  let readAtMs: number | undefined;
  let lastText: string | undefined;

  const read = (): TierThresholds => {
    const nowMs = clock.elapsedMs();
    if (readAtMs !== undefined && nowMs - readAtMs < readEveryMs) return current;
    readAtMs = nowMs;
    const text = textOf(path, (reason) => log.warn({ path, reason }, 'this file cannot be read'));
    if (text === lastText) return current;
    lastText = text;
    if (text === undefined) {
      current = configured;
      return current;
    }
    try {
      const parsed = parseJson(text);
      if (!parsed.ok) throw new TypeError(parsed.reason);
      const { lowCeiling, balancedCeiling, highSignalKeywords, lowSignalKeywords } = fileSchema.parse(parsed.value);
      current = {
        low: lowCeiling ?? configured.low,
        balanced: balancedCeiling ?? configured.balanced,
        demanding: highSignalKeywords,
        simple: lowSignalKeywords,
      };
      log.info({ path, low: current.low, balanced: current.balanced }, 'tiers are chosen by this file now');
    } catch (error) {
      const reason = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
      log.warn({ path, reason }, 'this file cannot be used, so tiers are chosen as before');
    }
    return current;
  };

  return {
    get low() {
      return read().low;
    },
    get balanced() {
      return read().balanced;
    },
    get demanding() {
      return read().demanding;
    },
    get simple() {
      return read().simple;
    },
  };
};

// A few lines, once a minute: waiting for them is less than what a wrong tier costs.
const textOf = (path: string, onTrouble: (reason: string) => void): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onTrouble(messageOf(error));
    return undefined;
  }
};
