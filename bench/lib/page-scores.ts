/** How much two texts have in common. */
export interface WordScore {
  readonly f1: number;
  readonly precision: number;
  readonly recall: number;
}

/** Compares texts by how often each word occurs. */
export const scoreWords = (expected: string, actual: string): WordScore => {
  const wanted = countWords(expected);
  const came = countWords(actual);
  let common = 0;
  for (const [word, count] of wanted.counts) common += Math.min(count, came.counts.get(word) ?? 0);
  const precision = came.total === 0 ? 0 : common / came.total;
  const recall = wanted.total === 0 ? 1 : common / wanted.total;
  return { precision, recall, f1: common === 0 ? 0 : (2 * precision * recall) / (precision + recall) };
};

const countWords = (text: string): { counts: ReadonlyMap<string, number>; total: number } => {
  const counts = new Map<string, number>();
  const words = text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return { counts, total: words.length };
};

/** The words of Markdown: no marks, targets or texts of images, white space as one. */
export const toPlainText = (markdown: string): string =>
  markdown
    .replaceAll(/!\[[^\]]*\]\([^)\s]*\)/g, '')
    .replaceAll(/\]\([^)\s]*\)/g, ']')
    .replaceAll('<br>', ' ')
    .replaceAll(/[*`\\\u00ad\u200b\ufeff]/g, '')
    .replaceAll(/[#|[\]]/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** A text without any white space, for comparing what is written over several lines. */
export const withoutSpace = (text: string): string => text.replaceAll(/\s+/g, '');
