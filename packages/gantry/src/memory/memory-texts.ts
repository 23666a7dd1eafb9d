import { flattenText } from '../text/flatten.ts';
import type { MemoryQuery } from './find-entries.ts';
import type { MemoryEntry } from './working-memory.ts';

const previewChars = 120;
const mostAlternatives = 20;
const minuteMs = 60_000;

/** When an entry expires, in words: `expires in 4 min`. */
export const lifeOf = ({ expiresAtMs }: MemoryEntry, nowMs: number): string => {
  const minutes = Math.ceil((expiresAtMs - nowMs) / minuteMs);
  if (minutes < 120) return `expires in ${Math.max(1, minutes)} min`;
  return minutes < 48 * 60
    ? `expires in ${Math.floor(minutes / 60)} h`
    : `expires in ${Math.floor(minutes / 1440)} days`;
};

/** Says that a key holds nothing, and which keys are worth a try. */
export const describeMissing = (fullKey: string, alternatives: readonly string[]): string => {
  const missing = `There is no entry \`${fullKey}\` in working memory; it was never saved, was deleted, or has expired.`;
  if (alternatives.length === 0) return missing;
  const shown = alternatives.slice(0, mostAlternatives).map((key) => `\`${key}\``);
  const more = alternatives.length - shown.length;
  return `${missing} These exist: ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`;
};

/** Says that nothing was found: by the search, in the caller's own namespace, or in another one. */
export const describeEmpty = (path: string, wanted: MemoryQuery, isOwn: boolean): string => {
  const criteria = describeCriteria(wanted);
  if (criteria !== '') return `No working memory entry in ${path} matches ${criteria}.`;
  return isOwn ? `Your working memory (${path}) is empty.` : `There are no working memory entries in ${path}.`;
};

/** A header with the count and a line for each entry; previews only when there was something to look for. */
export const describeEntries = (
  entries: readonly MemoryEntry[],
  found: { readonly path: string; readonly wanted: MemoryQuery; readonly total: number; readonly nowMs: number },
): string => {
  const { path, wanted, total, nowMs } = found;
  const criteria = describeCriteria(wanted);
  const what = `${total} working memory ${total === 1 ? 'entry' : 'entries'} in ${path}`;
  const which = criteria === '' ? '' : ` matching ${criteria}`;
  const shown = entries.length < total ? `, the first ${entries.length}` : '';
  const withPreview = (wanted.query ?? '') !== '';
  const lines = entries.map((entry) => {
    const facts = [
      entry.category === undefined ? undefined : `category: ${flattenText(entry.category)}`,
      entry.tags?.length ? `tags: ${flattenText(entry.tags.join(', '))}` : undefined,
      lifeOf(entry, nowMs),
    ];
    const line = `- \`${entry.key}\` (${facts.filter((fact) => fact !== undefined).join('; ')})`;
    return withPreview ? `${line}: ${preview(entry.text)}` : line;
  });
  return [`${what}${which}${shown}:`, ...lines].join('\n');
};

// One unit more than is shown leaves room for the ellipsis.
const preview = (text: string): string => flattenText(text, { maxChars: previewChars + 1 });

const describeCriteria = ({ query = '', category, tags = [] }: MemoryQuery): string =>
  [
    query === '' ? undefined : `"${flattenText(query)}"`,
    category?.trim() ? `category "${flattenText(category)}"` : undefined,
    tags.length === 0 ? undefined : `tags ${tags.map((tag) => `"${flattenText(tag)}"`).join(', ')}`,
  ]
    .filter((part) => part !== undefined)
    .join(' and ');
