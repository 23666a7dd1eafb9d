import { foreignWords } from './foreign-words.ts';
import { toStem } from './stem.ts';
import { synonymGroups } from './synonym-groups.ts';
import { toNameWords, toWords } from './tokens.ts';
import { topicWords } from './topic-words.ts';

/** Other stems that stand for a stem, with how much they count beside it (0–1). */
export type Thesaurus = ReadonlyMap<string, ReadonlyMap<string, number>>;

// How much a match by another word counts. A subject says less about its words than they say about it.
const translated = 0.8;
const synonymous = 0.5;
const wordToTopic = 0.5;
const topicToWord = 0.1;

/** Builds the table of related stems from the word lists. */
export const createThesaurus = (): Thesaurus => {
  const table = new Map<string, Map<string, number>>();
  const relate = (from: string, to: string, weight: number): void => {
    if (from === to) return;
    let row = table.get(from);
    if (row === undefined) table.set(from, (row = new Map()));
    row.set(to, Math.max(row.get(to) ?? 0, weight));
  };
  for (const group of synonymGroups) {
    const stems = group.map(toStem);
    for (const from of stems) for (const to of stems) relate(from, to, synonymous);
  }
  for (const [topic, words] of Object.entries(topicWords))
    for (const subject of toNameWords(topic).map(toStem))
      for (const word of toWords(words).map(toStem)) {
        relate(word, subject, wordToTopic);
        relate(subject, word, topicToWord);
      }
  for (const [english, words] of Object.entries(foreignWords))
    for (const word of toWords(words).map(toStem)) {
      relate(word, toStem(english), translated);
      relate(toStem(english), word, translated);
    }
  return table;
};
