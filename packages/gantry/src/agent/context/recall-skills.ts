import { markerOf } from '../../memory/skill-tools.ts';
import type { KnownSkill } from '../../memory/skills.ts';
import { rankDocuments } from '../../search/bm25.ts';
import { commonWords, stopWords } from '../../search/stop-words.ts';
import { toWords } from '../../search/tokens.ts';
import { cutText } from '../../text/cut.ts';

/** Brings the skills that a message is about along with it. */
export interface SkillRecall {
  /** The text of the skills that fit, for the model; undefined when none does. What a session was told once is not told again. */
  take(namespace: string, message: string, skills: readonly KnownSkill[]): string | undefined;
  /** A session begins anew. */
  forget(namespace: string): void;
}

const maxChars = 4_000;
const maxAlso = 10;
// A message says at its begin what it is about; a page that was pasted must not cost a page's worth of look-ups.
const mostMessageChars = 20_000;
const mostWords = 200;
const sessionsKept = 1_000;
/** What fits less than that beside the best shares a word by chance. */
const worthTelling = 0.4;

/** Makes the recall of an agent; it knows the last 1,000 sessions. */
export const createSkillRecall = ({ most }: { readonly most: number }): SkillRecall => {
  const told = new Map<string, Set<string>>();

  const toldTo = (namespace: string): Set<string> => {
    const known = told.get(namespace) ?? new Set();
    // Again at the end, so that the one that was quiet for longest goes first.
    told.delete(namespace);
    told.set(namespace, known);
    for (const [oldest] of told) if (told.size > sessionsKept) told.delete(oldest);
    return known;
  };

  return {
    take: (namespace, message, skills) => {
      if (most === 0 || skills.length === 0) return undefined;
      const query = toWords(message.slice(0, mostMessageChars))
        .filter((word) => !stopWords.has(word) && !commonWords.has(word))
        .slice(0, mostWords)
        .join(' ');
      const ranked = rankDocuments(skills, ({ name, summary }) => `${name.replaceAll(/[/-]/g, ' ')} ${summary}`, query);
      const least = (ranked[0]?.score ?? 0) * worthTelling;
      const known = toldTo(namespace);
      const found = ranked
        .filter(({ item, score }) => score >= least && !known.has(item.name))
        .slice(0, most)
        .map(({ item }) => item);
      if (found.length === 0) return undefined;
      for (const { name } of found) known.add(name);
      const also = alsoIn(found, skills).filter((name) => !known.has(name));
      return [
        '# Skills that fit this message',
        ...found.map(skillText),
        ...(also.length > 0 ? [`See also, with get_skill: ${also.slice(0, maxAlso).join(', ')}.`] : []),
      ].join('\n\n');
    },
    forget: (namespace) => void told.delete(namespace),
  };
};

const skillText = ({ name, content, freshness }: KnownSkill): string => {
  const notice = markerOf(freshness);
  const text =
    content.length <= maxChars ? content : `${cutText(content, maxChars)}\n[… read the whole with get_skill]`;
  return `<skill name="${name}">\n${notice === undefined ? '' : `${notice}\n`}${text}\n</skill>`;
};

/** Skills that others name in a line "See also: …". */
const alsoIn = (found: readonly KnownSkill[], skills: readonly KnownSkill[]): readonly string[] => {
  const names = new Set(skills.map(({ name }) => name));
  const lines = found.flatMap(({ content }) =>
    [...content.matchAll(/^[ \t>*_-]*see also[*_:]*[ \t]+(.+)$/gim)].map(([, line = '']) => line),
  );
  const named = lines.flatMap((line) => line.toLowerCase().match(/[a-z0-9]+(?:[-/][a-z0-9]+)*/g) ?? []);
  return [...new Set(named)].filter((name) => names.has(name));
};
