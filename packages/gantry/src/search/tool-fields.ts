import { isObject } from '../kernel/json.ts';
import { toStem } from './stem.ts';
import { stopWords } from './stop-words.ts';
import { toNameWords, toWords } from './tokens.ts';

/** A tool or prompt as the search sees it. */
export interface ToolEntry {
  /** Unique in an index. */
  readonly id: string;
  readonly server: string;
  /** The server's own name for it. */
  readonly name: string;
  /** The name a model calls it by. */
  readonly typedName: string;
  readonly title?: string | undefined;
  readonly description: string;
  /** What the server says about itself. */
  readonly serverText?: string | undefined;
  /** JSON Schema of the arguments. */
  readonly inputSchema: unknown;
  readonly kind: 'tool' | 'prompt';
}

/** The parts of an entry that are searched, with how much a word in each counts and how much long ones are held back. */
export const toolFields = [
  { field: 'name', weight: 1.5, lengthWeight: 0.4 },
  { field: 'title', weight: 1, lengthWeight: 0.4 },
  { field: 'description', weight: 1, lengthWeight: 0.6 },
  { field: 'parameterNames', weight: 1, lengthWeight: 0.6 },
  { field: 'parameterTexts', weight: 0.6, lengthWeight: 0.6 },
  { field: 'parameterValues', weight: 1, lengthWeight: 0.4 },
  { field: 'server', weight: 0.3, lengthWeight: 0.5 },
] as const;

/** Where the fields stand that are looked at one by one. */
export const fieldAt = { name: 0, title: 1, description: 2 } as const;

// What a server writes has no bound; beyond this a text says nothing new about what the tool is for.
const mostWordsAField = 300;
const deepestSchema = 5;

/** The stems of each field of an entry, in the order of {@link toolFields}. */
export const toFieldStems = (entry: ToolEntry): string[][] => {
  const parameters = { names: [], texts: [], values: [] };
  collectParameters(entry.inputSchema, parameters, 0);
  const texts = [
    toNameWords(entry.title ?? ''),
    toNameWords(entry.description),
    parameters.names,
    parameters.texts,
    parameters.values,
    [...toNameWords(entry.server), ...toWords(entry.serverText ?? '')],
  ];
  // A name is what it is: `help` and `about` are words to find it by.
  return [toStems(toNameWords(entry.name)), ...texts.map((words) => toStems(words.filter(isTelling)))];
};

const isTelling = (word: string): boolean => !stopWords.has(word);

const toStems = (words: readonly string[]): string[] => words.slice(0, mostWordsAField).map(toStem);

interface ParameterWords {
  readonly names: string[];
  readonly texts: string[];
  readonly values: string[];
}

const collectParameters = (schema: unknown, into: ParameterWords, depth: number): void => {
  if (!isObject(schema) || depth > deepestSchema) return;
  if (isObject(schema['properties']))
    for (const [name, property] of Object.entries(schema['properties'])) {
      if (into.names.length > mostWordsAField) return;
      into.names.push(...toNameWords(name));
      if (!isObject(property)) continue;
      if (typeof property['description'] === 'string') into.texts.push(...toWords(property['description']));
      if (Array.isArray(property['enum']))
        for (const value of property['enum'].slice(0, mostWordsAField))
          if (typeof value === 'string') into.values.push(...toNameWords(value));
      collectParameters(property, into, depth + 1);
    }
  collectParameters(schema['items'], into, depth + 1);
  for (const key of ['anyOf', 'oneOf', 'allOf'])
    if (Array.isArray(schema[key])) for (const branch of schema[key]) collectParameters(branch, into, depth + 1);
};
