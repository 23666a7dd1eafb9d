const word = /[\p{L}\p{M}\p{N}]+/gu;
const ascii = /^[\0-\x7f]*$/;
// Scripts written without spaces between words: pairs of neighbouring characters stand in for words.
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}ー]+/gu;
const hasUnspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const accents = /[\u0300-\u036f]/g;

/** Lower case without accents and width variants, so that `Café` and `ｃａｆｅ` meet `cafe`. */
export const foldText = (text: string): string =>
  ascii.test(text)
    ? text.toLowerCase()
    : text.normalize('NFKD').replaceAll(accents, '').normalize('NFC').toLowerCase().replaceAll('ß', 'ss');

/**
 * The words of a text in order: runs of letters and digits of any script, folded by {@link foldText}. Scripts without
 * spaces between words (Chinese, Japanese, Thai …) give overlapping pairs of characters instead.
 */
export const toWords = (text: string): string[] => {
  const words: string[] = foldText(text).match(word) ?? [];
  return words.some(isUnspaced) ? words.flatMap((run) => (isUnspaced(run) ? toPairs(run) : run)) : words;
};

/** True when the word is (partly) of a script that does not put spaces between words. */
export const isUnspaced = (run: string): boolean => !ascii.test(run) && hasUnspaced.test(run);

const toPairs = (run: string): string[] => {
  const pairs: string[] = [];
  let end = 0;
  for (const match of run.matchAll(unspaced)) {
    if (match.index > end) pairs.push(run.slice(end, match.index));
    const characters = Array.from(match[0]);
    if (characters.length === 1) pairs.push(match[0]);
    for (let index = 0; index + 1 < characters.length; index += 1)
      pairs.push(`${characters[index]}${characters[index + 1]}`);
    end = match.index + match[0].length;
  }
  if (end < run.length) pairs.push(run.slice(end));
  return pairs;
};

const camelEdge = /(\p{Ll}|\d)(?=\p{Lu})|(\p{Lu})(?=\p{Lu}\p{Ll})|(\p{L})(?=\d)|(\d)(?=\p{L})/gu;

/** The words of an identifier: as {@link toWords}, and parted also at `camelCase`, `HTTPServer` and `page2` edges. */
export const toNameWords = (name: string): string[] => toWords(name.replaceAll(camelEdge, '$& '));
