import type { Tier } from '../../tool/context.ts';

/** From which score on a turn goes to the balanced and to the high tier, and what counts beside the usual words. */
export interface TierThresholds {
  readonly low: number;
  readonly balanced: number;
  /** Further words and phrases, in any language, that stand for demanding work. */
  readonly demanding?: readonly string[] | undefined;
  /** Words and phrases that stand for simple questions; each takes off what an ordinary action adds. */
  readonly simple?: readonly string[] | undefined;
}

const demanding =
  /\b(analy[sz]e|architect|compare|debug|derive|design|diagnose|evaluate|explain why|implement|investigate|migrate|optimi[sz]e|plan|prove|refactor|research|review|root cause|strategy|trade-?offs?|troubleshoot|write (?:a|an|the) (?:report|program|essay|script))\b/gi;
const acting =
  /\b(add|book|build|call|cancel|change|check|create|delete|fetch|find|get|look up|move|open|read|remove|run|schedule|search|send|set up|show|summari[sz]e|translate|update|use|write)\b/gi;

/** What is asked for stands at the begin or the end of a message; between them are the things that it is about. */
const endChars = 10_000;

/**
 * How demanding a message looks, from 0 to 1: its length, the kind of work it names, and its structure (several questions or steps, code,
 * lists). A guess that costs nothing; a turn that turns out harder moves up by itself.
 */
export const demandOf = (whole: string, words: Pick<TierThresholds, 'demanding' | 'simple'> = {}): number => {
  const text = whole.length > 2 * endChars ? `${whole.slice(0, endChars)}\n${whole.slice(-endChars)}` : whole;
  const length = Math.min(1, text.trim().split(/\s+/u).filter(Boolean).length / 200);
  const demands = count(text, demanding) + countWords(text, words.demanding);
  const acts = count(text, acting) - countWords(text, words.simple);
  const kinds = Math.max(0, Math.min(1, demands * 0.5 + acts * 0.25));
  const parts =
    count(text, /\?/g) * 0.2 +
    count(text, /^[ \t]*(?:[-*]|\d{1,9}[.)])\s/gm) * 0.2 +
    count(text, /```/g) * 0.3 +
    count(text, /\b(?:and then|after that|first|finally|then)\b/gi) * 0.2;
  return Math.min(1, 0.35 * length + 0.45 * kinds + 0.2 * Math.min(1, parts));
};

/** The tier for a message of a user. */
export const chooseTier = (text: string, { low, balanced, ...words }: TierThresholds): Tier => {
  const demand = demandOf(text, words);
  if (demand < low) return 'low';
  return demand < balanced ? 'balanced' : 'high';
};

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

const countWords = (text: string, words: readonly string[] = []): number => {
  if (words.length === 0) return 0;
  const either = words.map((word) => RegExp.escape(word)).join('|');
  // Not `\b`, which knows English letters only.
  return count(text, new RegExp(`(?<![\\p{L}\\p{N}])(?:${either})(?![\\p{L}\\p{N}])`, 'giu'));
};
