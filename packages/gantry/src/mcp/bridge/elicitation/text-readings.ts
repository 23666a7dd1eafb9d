import { foldText, invisible } from './fold-text.ts';
import { withoutOrdinary } from './ordinary-words.ts';

/** No form has a longer text that is read at all. */
const longestText = 20_000;

/** A text as words in small letters, in each way in which it may be meant. */
export const readingsOf = (text: string): readonly string[] => {
  const plain = text.slice(0, longestText).replaceAll(invisible, '').normalize('NFKC');
  // Humps are read both ways: "userPIN" has two words, "APIkey" is one.
  const readings = [plain.replaceAll(hump, ' '), plain].map((reading) => foldText(reading));
  const folded = readings[1] ?? '';
  // Digits and signs in the place of letters; a text without them has no more readings.
  if (signInWord.test(folded)) readings.push(withLetters(folded, 'i'), withLetters(folded, 'l'));
  return readings.map((reading) =>
    withoutOrdinary(
      reading
        .replaceAll(separators, ' ')
        .trim()
        // Letter by letter: "p a s s w o r d".
        .replaceAll(spelled, (letters) => letters.replaceAll(' ', '')),
    )
      .replaceAll(/ +/gu, ' ')
      .trim(),
  );
};

const separators = /[^\p{L}\p{M}\p{N}]+/gu;
const spelled = /(?<![\p{L}\p{N}])[\p{L}\p{N}](?: [\p{L}\p{N}]){2,}(?![\p{L}\p{N}])/gu;
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

/** True where PIN or TAN is written in capitals within other letters, which the pins of maps and trees and the color are not. */
export const hasCapitalPin = (text: string): boolean => {
  const plain = text.slice(0, longestText).replaceAll(invisible, '').normalize('NFKC').replaceAll(separators, ' ');
  return /\p{Ll}/u.test(plain) && capitalPin.test(withoutOrdinary(plain.trim()));
};
const capitalPin = /(?<!\p{Lu})(?:PIN|TAN)s?(?!\p{L})/u;
