import { flattenText } from '../text/flatten.ts';
import type { VolumeEntry, VolumeListing } from '../volume/volume.ts';
import type { FileHits } from './search-files.ts';
import type { LineRange } from './text-file.ts';

/** A size in plain digits and the unit that fits: `812 bytes`, `3.1 KB`. */
export const sizeText = (bytes: number): string => {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`;
  const [size, unit] =
    bytes < 1_000_000 ? [bytes / 1000, 'KB'] : bytes < 1e9 ? [bytes / 1e6, 'MB'] : [bytes / 1e9, 'GB'];
  return `${size < 10 ? size.toFixed(1) : Math.round(size)} ${unit}`;
};

/** A heading, and a line for each entry. */
export const describeListing = (folder: string, { entries, isComplete }: VolumeListing): string => {
  const where = folder === '' ? 'the shared folder' : `\`${folder}\``;
  if (entries.length === 0) return `There is nothing in ${where}.`;
  const heading = `${isComplete ? '' : 'The first '}${entries.length} ${entries.length === 1 ? 'entry' : 'entries'} in ${where}:`;
  const more = isComplete ? [] : ['There is more; list a folder below, or use a smaller depth.'];
  return [heading, ...entries.map(entryLine), ...more].join('\n');
};

const entryLine = ({ path, kind, size, modifiedMs }: VolumeEntry): string => {
  const shown = nameText(path);
  const time = `${new Date(modifiedMs).toISOString().slice(0, 19)}Z`;
  switch (kind) {
    case 'folder':
      return `- ${shown}/`;
    case 'file':
      return `- ${shown} (${sizeText(size)}, ${time})`;
    case 'link':
      return `- ${shown} (a link; not followed)`;
    case 'other':
      return `- ${shown} (not a file)`;
  }
};

/** A heading that says which lines these are and how to go on, then the lines as they are. */
export const describeLines = (
  path: string,
  range: LineRange,
  facts: { readonly offset: number; readonly size: number; readonly encoding: string },
): string => {
  const { lines, total, hasMore, cut } = range;
  const { offset, size, encoding } = facts;
  const what = `\`${path}\` (${sizeText(size)}${encoding === 'utf-8' ? '' : `, ${encoding}`})`;
  if (total === 0) return `${what} is empty.`;
  if (lines.length === 0) return `${what} has ${total} ${total === 1 ? 'line' : 'lines'}; there is no line ${offset}.`;
  const last = offset + lines.length - 1;
  const which = total === lines.length && !hasMore ? 'all' : `lines ${offset} to ${last}`;
  const ofTotal = total === undefined ? '' : ` of ${total}`;
  const notes = [
    cut.length > 0 ? ` Cut, since too long: line ${cut.join(', ')}.` : '',
    hasMore ? ` Go on with offset ${last + 1}.` : '',
  ].join('');
  return `${what}, ${which}${which === 'all' ? ` ${total} ${total === 1 ? 'line' : 'lines'}` : ofTotal}.${notes}\n\n${lines.join('\n')}`;
};

/** Where the words were found, and what was not looked at. */
export const describeHits = (query: string, folder: string, found: FileHits): string => {
  const { hits, searched, tooLarge, isComplete } = found;
  const where = folder === '' ? 'the shared folder' : `\`${folder}\``;
  const shown = flattenText(query, { maxChars: 100 });
  const notes = [
    ...(isComplete ? [] : ['There may be more: search in a folder below, or for something more special.']),
    ...(tooLarge.length > 0
      ? [`Not searched, since too large: ${tooLarge.slice(0, 10).map(nameText).join(', ')}.`]
      : []),
  ];
  if (hits.length === 0)
    return [`Nothing in ${where} matches "${shown}" (${searched} files searched).`, ...notes].join('\n');
  const lines = hits.map(({ path, line, text = '' }) =>
    line === undefined ? `- ${nameText(path)} (name)` : `- ${nameText(path)}:${line}: ${text}`,
  );
  return [`${hits.length} ${hits.length === 1 ? 'place' : 'places'} in ${where}:`, ...lines, ...notes].join('\n');
};

// Names come from anywhere; one with a line break must not look like an entry of its own.
const nameText = (path: string): string => path.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '?');
