import { credentialPhrases, credentialStems, credentialWords, foreignWords, weakWords } from './credential-words.ts';
import { foldName, foldText, invisible } from './fold-text.ts';

/**
 * True when a name or a text of a field asks for a credential or the like. Such a form is never answered, and no setting changes that.
 */
export const isSensitiveText = (text: string): boolean => {
  const readings = readingsOf(text);
  return (
    readings.some((reading) => phrases.test(reading) || reading.split(' ').some((word) => sensitiveWords.has(word))) ||
    isForeign(readings)
  );
};

/** The same for the name of a field, whose parts may be separated in any way. */
export const isSensitiveName = (name: string): boolean => {
  if (isSensitiveText(name)) return true;
  const whole = foldName(name);
  return wholeNames.has(whole) || wholeNames.has(withLetters(whole, 'i')) || whole.includes('password');
};

/**
 * True when a sentence to a person asks for one: it names it, and says that the reader is to give something. A few bare words ask, too,
 * unless they name a choice.
 */
export const asksForCredential = (text: string, { isChoice = false }: { readonly isChoice?: boolean } = {}): boolean =>
  text.split(sentenceEnd).some((sentence) => {
    const readings = readingsOf(sentence);
    if (isForeign(readings)) return true;
    return readings.some(
      (reading) =>
        ((!isChoice && isBare(reading)) || asking.test(reading)) &&
        (phrases.test(reading) || reading.split(' ').some((word) => sensitiveWords.has(word) && !weakWords.has(word))),
    );
  });

const sentenceEnd = /[.!;\n\r]+(?=\s|$)/u;

// "Password:" alone is a question, too.
const isBare = (sentence: string): boolean => sentence.split(' ').length <= 4;

const asking = new RegExp(
  String.raw`(?<!\p{L})(?:your|yours|enter|type|provide|give|paste|input|insert|tell|send|supply|fill|write|submit|share|need|needs|require|requires|required|please|reply|answer|put|confirm|verify|what|which` +
    String.raw`|tu|su|ingrese|introduce|introduzca|escriba|votre|ton|saisissez|entrez|ihr|ihre|dein|deine|geben|bitte|tuo|tua|inserisci|inserire|sua|seu|digite|insira|uw|je|voer|podaj|wpisz|twoje|girin|giriniz|lutfen)(?!\p{L})`,
  'u',
);

/** No form has a longer text that is read at all. */
const longestText = 20_000;

/** A text as words in small letters, in each way in which it may be meant. */
const readingsOf = (text: string): readonly string[] => {
  const plain = text.slice(0, longestText).replaceAll(invisible, '').normalize('NFKC');
  // Humps are read both ways: "userPIN" has two words, "APIkey" is one.
  const readings = [plain.replaceAll(hump, ' '), plain].map((reading) => foldText(reading));
  const folded = readings[1] ?? '';
  // Digits and signs in the place of letters; a text without them has no more readings.
  if (signInWord.test(folded)) readings.push(withLetters(folded, 'i'), withLetters(folded, 'l'));
  return readings.map((reading) =>
    reading
      .replaceAll(separators, ' ')
      .trim()
      // Letter by letter: "p a s s w o r d".
      .replaceAll(spelled, (letters) => letters.replaceAll(' ', ''))
      .replaceAll(countedTokens, ''),
  );
};

const separators = /[^\p{L}\p{M}\p{N}]+/gu;
const spelled = /(?<![\p{L}\p{N}])[\p{L}\p{N}](?: [\p{L}\p{N}]){2,}(?![\p{L}\p{N}])/gu;
// What a model reads is measured in tokens.
const countedTokens =
  /(?<!\p{L})(?:tokens? (?:counts?|limits?|budgets?|usage|numbers?|sizes?|length|price|window)|(?:max|min|maximum|minimum|total|count of|number of) tokens?)(?!\p{L})/gu;
// Between a small letter and a capital, before the last capital of several, and between letters and digits ("2FA", "password2").
const hump = /(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})|(?<=\p{N})(?=\p{L})|(?<=\p{L})(?=\p{N})/gu;

const signInWord = /\p{L}[0134578@$!]|[0134578@$!]\p{L}/u;
const withLetters = (text: string, one: 'i' | 'l'): string =>
  text.replaceAll(/[\p{L}0134578@$!]+/gu, (word) =>
    /\p{L}/u.test(word)
      ? word.replaceAll(/[0134578@$!]/g, (sign) => (sign === '1' ? one : (letters[sign] ?? sign)))
      : word,
  );
const letters: Readonly<Record<string, string>> = {
  '0': 'o',
  '3': 'e',
  '4': 'a',
  '5': 's',
  '7': 't',
  '8': 'b',
  '@': 'a',
  $: 's',
  '!': 'i',
};

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
/** What says nothing within a text, and all where it is the whole name. */
const wholeNames: ReadonlySet<string> = new Set(['pass', 'clave', 'cookie', 'cookies', ...credentialWords]);

const toPattern = (phrase: string): string => {
  const pattern = phrase.replaceAll(' ', ' ?').replace(/^\^/, String.raw`(?<![\p{L}\p{N}])`);
  if (pattern.endsWith('$')) return pattern.replace(/\$$/, String.raw`(?!\p{L})`);
  // "Access keyboard" and "api keyword" are none.
  return pattern.endsWith('key') ? `${pattern}(?!board|word|stone|note|pad)` : pattern;
};
const phrases = new RegExp(
  [
    ...credentialPhrases.map(toPattern).map((pattern) => (pattern.startsWith('pass') ? `(?<!com)${pattern}` : pattern)),
    // Between other letters and digits these three would be found in "line 2 family".
    String.raw`(?<!\p{N})2 ?fa(?!\p{L})`,
  ].join('|'),
  'u',
);
