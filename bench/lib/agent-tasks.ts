import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '../../packages/gantry/src/kernel/json.ts';

/** One thing that a task needs a tool for, as a model understands it from what its user wrote. */
export interface TaskStep {
  /** What is looked for, in words. */
  readonly need: string;
  /** Fits the names of tools that may do it, in any spelling. */
  readonly fits: RegExp;
  /** The name that a model would give such a tool. */
  readonly guessedTool: string;
  /** The name that a model would give such a server. */
  readonly guessedServer: string;
  /** The values by the names of parameters; `results` are what the steps before returned. */
  readonly values: (results: readonly string[]) => JsonObject;
}

/** A task with what a scripted model needs to understand it, and the test of its effect. */
export interface AgentTask {
  readonly name: string;
  readonly text: string;
  readonly steps: readonly TaskStep[];
  /** Whether it was really done, whatever the answer claims. */
  isDone(reply: string): boolean;
}

/** Where the tasks of one run work: a folder of the file server, the memory server's file, and a word that makes names and values its own. */
export interface TaskGround {
  readonly folder: string;
  readonly memoryFile: string;
  readonly word: string;
}

const files = { guessedServer: 'filesystem' };
const memory = { guessedServer: 'memory' };
const demo = { guessedServer: 'everything' };

/** Small tasks for three servers. Files they start from are written at once; the memory server must hold what `seededMemory` gives. */
export const makeTasks = ({ folder, memoryFile, word }: TaskGround): readonly AgentTask[] => {
  const at = (name: string): string => join(folder, name);
  const read = (name: string): string => {
    try {
      return readFileSync(at(name), 'utf8');
    } catch {
      return '';
    }
  };
  const remembered = (): string => readFileSync(memoryFile, 'utf8');
  for (const [name, text] of [
    ['code.txt', `The code word is ${word}-heron.`],
    ['port.txt', 'host = local\nport = 8080\n'],
    ['old.txt', word],
    ['first.txt', '1207'],
    ['second.txt', '835'],
  ] as const)
    writeFileSync(at(name), text);

  const readStep = (name: string): TaskStep => ({
    ...files,
    need: 'read a text file',
    fits: /read.?(text.?)?file|file.?read/,
    guessedTool: 'read_file',
    values: () => ({ path: at(name) }),
  });
  const writeStep = (name: string, content: TaskStep['values']): TaskStep => ({
    ...files,
    need: 'write a file',
    fits: /write.?file|file.?write/,
    guessedTool: 'write_file',
    values: (results) => ({ path: at(name), ...content(results) }),
  });
  const number = (text = ''): number => Number(/\d+/.exec(text)?.[0] ?? Number.NaN);

  return [
    {
      name: 'write a file',
      text: `Write "good morning ${word}" into the file ${at('greeting.txt')}.`,
      steps: [writeStep('greeting.txt', () => ({ content: `good morning ${word}` }))],
      isDone: () => read('greeting.txt').trim() === `good morning ${word}`,
    },
    {
      name: 'read a file',
      text: `What is the code word in ${at('code.txt')}?`,
      steps: [readStep('code.txt')],
      isDone: (reply) => reply.includes(`${word}-heron`),
    },
    {
      name: 'edit a file',
      text: `In ${at('port.txt')} change the line "port = 8080" to "port = 9090", and nothing else.`,
      steps: [
        {
          ...files,
          need: 'edit a text file',
          fits: /edit.?file|file.?edit/,
          guessedTool: 'replace_in_file',
          values: () => ({ path: at('port.txt'), edits: [{ oldText: 'port = 8080', newText: 'port = 9090' }] }),
        },
      ],
      isDone: () => read('port.txt') === 'host = local\nport = 9090\n',
    },
    {
      name: 'rename a file',
      text: `Rename ${at('old.txt')} to ${at('new.txt')}.`,
      steps: [
        {
          ...files,
          need: 'move or rename a file',
          fits: /move.?file|rename.?file|file.?move/,
          guessedTool: 'move_file',
          values: () => ({ source: at('old.txt'), destination: at('new.txt') }),
        },
      ],
      isDone: () => read('old.txt') === '' && read('new.txt') === word,
    },
    {
      name: 'remember a person',
      text: `Store in the knowledge graph: a person called Ada-${word}, who likes tea and lives in Bern. Two observations.`,
      steps: [
        {
          ...memory,
          need: 'create entities in the knowledge graph',
          fits: /create.?entit/,
          guessedTool: 'save_note',
          values: () => ({
            entities: [{ name: `Ada-${word}`, entityType: 'person', observations: ['likes tea', 'lives in Bern'] }],
          }),
        },
      ],
      isDone: () =>
        remembered()
          .split('\n')
          .some((line) => line.includes(`"Ada-${word}"`) && line.includes('tea') && line.includes('Bern')),
    },
    {
      name: 'look up and write down',
      text: `The knowledge graph knows where the boat named Gull-${word} lies. Write the name of its harbour into ${at('harbour.txt')}.`,
      steps: [
        {
          ...memory,
          need: 'search the knowledge graph',
          fits: /search.?nodes|open.?nodes/,
          guessedTool: 'search_nodes',
          values: () => ({ query: `Gull-${word}`, names: [`Gull-${word}`] }),
        },
        writeStep('harbour.txt', ([found = '']) => ({ content: /lies in ([\w-]+)/.exec(found)?.[1] ?? '(unknown)' })),
      ],
      isDone: () => read('harbour.txt').includes(`Skagen-${word}`),
    },
    {
      name: 'add numbers of files',
      text: `Add the numbers in ${at('first.txt')} and ${at('second.txt')} with the tool for sums, and tell me the result.`,
      steps: [
        readStep('first.txt'),
        readStep('second.txt'),
        {
          ...demo,
          need: 'add two numbers',
          fits: /get.?sum|add.?numbers/,
          guessedTool: 'add_numbers',
          values: ([first, second]) => ({ a: number(first), b: number(second) }),
        },
      ],
      isDone: (reply) => /2[,. ]?042/.test(reply),
    },
    {
      name: 'ask for the weather',
      text: 'What are the temperature and the humidity in Chicago, by the tool that returns structured content?',
      steps: [
        {
          ...demo,
          need: 'structured content: weather of a city',
          fits: /structured.?content|weather/,
          guessedTool: 'get_weather',
          values: () => ({ location: 'Chicago' }),
        },
      ],
      isDone: (reply) => reply.includes('36') && reply.includes('82'),
    },
  ];
};

/** What the memory server holds at first, a line for each word of a ground. */
export const seededMemory = (words: readonly string[]): string =>
  words
    .map((word) =>
      JSON.stringify({
        type: 'entity',
        name: `Gull-${word}`,
        entityType: 'boat',
        observations: [`lies in Skagen-${word}`],
      }),
    )
    .join('\n');
