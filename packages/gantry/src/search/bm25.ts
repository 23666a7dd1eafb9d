import { foldText, isUnspaced, toWords } from './tokens.ts';

/** An item with its relevance to the query: above zero, comparable only within one ranking. */
export interface RankedDocument<T> {
  readonly item: T;
  readonly score: number;
}

// The customary constants of Okapi BM25: how soon repetition stops counting, and how much long texts are held back.
const saturation = 1.5;
const lengthWeight = 0.75;
const phraseBonus = 2;

/**
 * Ranks texts by Okapi BM25 (k1 1.5, b 0.75), best first; equal scores keep the given order, zero scores are left out.
 *
 * Words shorter than three characters do not count. Two words that stand side by side in the query and in the text add
 * twice the score that the pair would have as a word of its own. Nothing is cached: texts are read at every call.
 */
export const rankDocuments = <T>(
  items: readonly T[],
  toText: (item: T) => string,
  query: string,
): RankedDocument<T>[] => {
  const words = toRankedWords(query);
  if (words.length === 0 || items.length === 0) return [];
  const terms = [...new Set(words)];
  const phrases = [...new Set(words.slice(1).map((word, index) => `${words[index]} ${word}`))];
  const position = new Map(terms.map((term, index) => [term, index]));
  const width = terms.length + phrases.length;
  const counts = new Uint32Array(items.length * width);
  const lengths = new Uint32Array(items.length);
  const documentsWith = new Uint32Array(width);
  let totalLength = 0;

  for (const [row, item] of items.entries()) {
    const text = toText(item);
    const documentWords = toRankedWords(text);
    const start = row * width;
    for (const word of documentWords) {
      const column = position.get(word);
      if (column !== undefined) counts[start + column]! += 1;
    }
    if (phrases.length > 0) {
      const folded = foldText(text);
      for (const [index, phrase] of phrases.entries())
        counts[start + terms.length + index] = countOccurrences(folded, phrase);
    }
    for (let column = 0; column < width; column += 1) if (counts[start + column]! > 0) documentsWith[column]! += 1;
    lengths[row] = documentWords.length;
    totalLength += documentWords.length;
  }

  const averageLength = totalLength / items.length || 1;
  const weights = Float64Array.from(documentsWith, (n, column) => {
    const idf = Math.log(1 + (items.length - n + 0.5) / (n + 0.5));
    return column < terms.length ? idf : phraseBonus * idf;
  });
  const ranked: RankedDocument<T>[] = [];
  for (const [row, item] of items.entries()) {
    const norm = saturation * (1 - lengthWeight + (lengthWeight * lengths[row]!) / averageLength);
    let score = 0;
    for (let column = 0; column < width; column += 1) {
      const count = counts[row * width + column]!;
      if (count > 0) score += (weights[column]! * count * (saturation + 1)) / (count + norm);
    }
    if (score > 0) ranked.push({ item, score });
  }
  return ranked.sort((a, b) => b.score - a.score);
};

// A pair of characters is a whole word in scripts without spaces; elsewhere one or two letters carry no meaning.
const toRankedWords = (text: string): string[] => toWords(text).filter((word) => word.length > 2 || isUnspaced(word));

const countOccurrences = (text: string, phrase: string): number => {
  let count = 0;
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + phrase.length)) count += 1;
  return count;
};
