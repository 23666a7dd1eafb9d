import {
  credentialPhrases,
  credentialStems,
  credentialWords,
  foreignWords,
  givingWords,
  shortWords,
  weakWords,
  wholeWords,
  wishingWords,
} from './credential-words.ts';
import { foldName } from './fold-text.ts';
import { withoutWaysToPay } from './ordinary-words.ts';
import { hasCapitalPin, readingsOf } from './text-readings.ts';

/**
 * True when a text of a field asks for a credential or the like. Such a form is never answered, and no setting changes that.
 */
export const isSensitiveText = (text: string): boolean => {
  const readings = readingsIn(text);
  return (
    readings.some((reading) => hasCredential(reading)) ||
    hasCapitalPin(text) ||
    keyStart.test(text) ||
    isForeign(readings)
  );
};

/** The same for what may be the name of a field, whose parts may be separated in any way, or the whole of a title. */
export const isSensitiveName = (name: string): boolean => {
  if (isSensitiveText(name)) return true;
  const readings = readingsIn(name);
  return (
    readings.some((reading) => wholeNames.has(reading.replaceAll(' ', ''))) ||
    (!/\s/.test(name.trim()) &&
      readings.some((reading) => lastPart.test(reading) || reading.replaceAll(' ', '').includes('password')))
  );
};

/**
 * True when a sentence to a person asks for one: it names it, and says that the reader is to give something. A few bare words ask, too, and
 * so does a prompt that ends in a colon, or has it in its first or last words. A choice asks only where it tells its reader to give it.
 */
export const asksForCredential = (text: string, { isChoice = false }: { readonly isChoice?: boolean } = {}): boolean =>
  sentencesOf(text).some((sentence) => {
    const readings = readingsIn(sentence);
    if (isForeign(readings)) return true;
    if (isChoice) return readings.some((reading) => giving.test(reading) && hasCredential(reading, isStrong));
    if (edgesOf(sentence).some((edge) => hasCapitalPin(edge))) return true;
    const isPrompt = sentence.trimEnd().endsWith(':');
    return readings.some((reading) =>
      isPrompt || isBare(reading) || asking.test(reading)
        ? wholeNames.has(reading) || hasCredential(reading, isStrong) || hasCapitalPin(sentence)
        : edgesOf(reading).some((edge) => hasCredential(edge, isStrong)),
    );
  });

/** Who is asked to give one is not asked for a way to pay. */
const readingsIn = (text: string): readonly string[] =>
  readingsOf(text).map((reading) => (asking.test(reading) ? reading : withoutWaysToPay(reading)));

// A line may be a prompt of its own, and a sentence may go over several.
const sentencesOf = (text: string): readonly string[] =>
  text.split(/[.!?;]+(?=\s|$)/u).flatMap((sentence) => [sentence, ...sentence.split(/[\n\r]+/u)]);

// "Password:" alone is a question, too.
const isBare = (sentence: string): boolean => sentence.split(' ').length <= 4;

const edgesOf = (sentence: string): readonly string[] => {
  const parts = sentence.split(' ');
  return [parts.slice(0, 3).join(' '), parts.slice(-2).join(' ')];
};

const hasCredential = (reading: string, counts: (word: string) => boolean = () => true): boolean =>
  phrases.test(reading) || reading.split(' ').some((word) => sensitiveWords.has(word) && counts(word));
const isStrong = (word: string): boolean => !weakWords.has(word);

const oneOf = (words: readonly string[]): RegExp =>
  new RegExp(String.raw`(?<!\p{L})(?:${words.join('|')})(?!\p{L})`, 'u');
const giving = oneOf(givingWords);
const asking = oneOf([...givingWords, ...wishingWords]);

// As in "starts with sk-"; "sk-SK" is a language.
const keyStart = /(?<![\p{L}\p{N}])(?:sk-(?!(?:sk|SK)(?!\p{L}))|gh[pousr]_|github_pat_|glpat-|xox[abp]-|AKIA)/u;

const isForeign = (readings: readonly string[]): boolean => {
  const [folded = ''] = readings;
  if (!otherScript.test(folded)) return false;
  const whole = folded.replaceAll(' ', '');
  return stems.some((stem) => whole.includes(stem)) || folded.split(' ').some((word) => otherWords.has(word));
};
// What folding leaves of other scripts.
const otherScript = /[^\p{Script=Latin}\p{N}\p{P}\p{Z}\p{S}]/u;

const stems = credentialStems.map(foldName);
const otherWords: ReadonlySet<string> = new Set(foreignWords.map(foldName));
const sensitiveWords: ReadonlySet<string> = new Set(credentialWords);
const wholeNames: ReadonlySet<string> = new Set([...wholeWords, ...credentialWords].map(foldName));
// "userPin", "pin2"; not "pinColor".
const lastPart = /(?:^| )(?:pin|tan)(?: ?\p{N}+)?$/u;

const toPattern = (phrase: string): string => {
  const pattern = phrase.replaceAll(' ', ' ?').replace(/^\^/, String.raw`(?<![\p{L}\p{N}])`);
  if (pattern.endsWith('$')) return pattern.replace(/\$$/, String.raw`(?!\p{L})`);
  // "Access keyboard" and "api keyword" are none.
  return pattern.endsWith('key') ? `${pattern}(?!board|word|stone|note|pad)` : pattern;
};
const phrases = new RegExp(
  [
    ...shortWords.map((pattern) => toPattern(`^${pattern}`)),
    ...credentialPhrases.map(toPattern).map((pattern) => (pattern.startsWith('pass') ? `(?<!com)${pattern}` : pattern)),
    // Between other letters and digits these three would be found in "line 2 family".
    String.raw`(?<!\p{N})2 ?fa(?!\p{L})`,
    // A one-time amount is none.
    String.raw`one ?time(?: \p{L}{1,20}){0,2} ?(?:code|pass|pin|key|token|number|secret)`,
  ].join('|'),
  'u',
);
