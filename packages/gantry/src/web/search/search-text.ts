import { flattenText } from '../../text/flatten.ts';
import type { AttachedImage } from './attach-images.ts';
import type { SearchAnswer, SearchHit } from './search-engine.ts';

const maxTitleChars = 300;
const maxSnippetChars = 600;
const maxAnswerChars = 6_000;

/** Images that were found and kept, each with where it comes from and where it lies. */
export const describeImages = (images: readonly AttachedImage[]): string =>
  [
    `${images.length} image(s) were found and are attached to this result; show or use them by their path.`,
    ...images.map(({ hit, attachment: { path, mime, size } }, index) => {
      const from = [toLine(hit) ?? '', `${mime}, ${size} bytes`].filter((text) => text !== '');
      return `${index + 1}. ${path} — ${from.join(' · ')}`;
    }),
  ].join('\n');

/** An answer as a numbered list of links; results without a title or a web address are left out. */
export const describeAnswer = (answer: SearchAnswer, count: number): string => {
  const { correctedQuery, answer: said } = answer;
  const hits = answer.hits
    .map(toLine)
    .filter((line) => line !== undefined)
    .slice(0, count);
  const lines = [
    correctedQuery === undefined ? undefined : `Searched for: ${flattenText(correctedQuery)}`,
    said === undefined
      ? undefined
      : `Answer: ${said.length > maxAnswerChars ? `${said.slice(0, maxAnswerChars)}…` : said}`,
    ...hits.map((line, index) => `${index + 1}. ${line}`),
  ].filter((line) => line !== undefined);
  if (hits.length === 0 && said === undefined) lines.push('No results found.');
  return lines.join('\n');
};

const toLine = ({ title, url, snippet, facts = [], imageUrl }: SearchHit): string | undefined => {
  const label = flattenText(title, { maxChars: maxTitleChars });
  const target = URL.parse(url);
  if (label === '' || target === null || !/^https?:$/.test(target.protocol)) return undefined;
  const address = target.href.replaceAll('(', '%28').replaceAll(')', '%29');
  const about = [imageUrl === undefined ? '' : `image: ${imageUrl}`, ...facts, snippet]
    .map((text) => flattenText(text, { maxChars: maxSnippetChars }))
    .filter((text) => text !== '');
  return `[${label}](${address})${about.length > 0 ? ` — ${about.join(' · ')}` : ''}`;
};
