import { chunkText } from '../../../packages/gantry/src/text/chunker.ts';
import { outcomeText } from 'gantry';
import type { Gantry } from 'gantry';
import { isObject } from '../../../packages/gantry/src/kernel/json.ts';
import { shown, unless, unmentioned } from '../lib/compare.ts';
import { offering, startGantry } from '../lib/local-gantry.ts';
import { textOf } from '../lib/read-cases.ts';
import type { Handler } from '../lib/verdict.ts';
import { NotCovered, refuseUnread } from '../lib/verdict.ts';

/** Stored chunks are never smaller than this; below it, only the splitter can be asked. */
const smallestStoredChunk = 20_000;

/** A big result and the reading of it → chunks. */
export const largeResult: Handler = async ({ input, expect }) => {
  refuseUnread(input, 'the input', ['text', 'limitChars', 'reads']);
  const ofChunks = ['reassembledFromChunksEquals', 'chunkCountMax', 'everyChunkMax', 'lossless', 'noHalfCharacters'];
  refuseUnread(expect, 'the expectation', [...ofChunks, 'modelSees', 'progressEachRead', 'lastChunkContains']);
  const text = textOf(input['text']);
  const limit = Number(input['limitChars']);
  if (!Number.isInteger(limit)) throw new NotCovered('no limit is given');
  const models = { field: { toolResultChunkingThreshold: limit } };
  await using local = await startGantry(() => [offering([bigTool(text)])], { modelBehaviors: { models } });
  const seen = await callAs(local.gantry, 'big', {});
  const stored = await readAll(local.gantry, seen);
  const small = limit < smallestStoredChunk;
  const chunks = small ? chunkText(text, { maxChars: limit }).map(({ body }) => body) : stored;
  const problems = isObject(expect['modelSees']) ? wrongNotice(expect['modelSees'], seen) : [];
  const isWhole = (parts: readonly string[]): boolean => parts.join('') === text;
  if (expect['lossless'] || expect['reassembledFromChunksEquals'] === 'the whole text')
    problems.push(
      ...unless(isWhole(stored) && isWhole(chunks), 'expected the whole text from the chunks', stored.join('').length),
    );
  else if ('reassembledFromChunksEquals' in expect)
    throw new NotCovered(`${shown(expect['reassembledFromChunksEquals'])} cannot be read`);
  const { chunkCountMax, everyChunkMax, lastChunkContains } = expect;
  if (typeof chunkCountMax === 'number')
    problems.push(...unless(chunks.length <= chunkCountMax, `expected at most ${chunkCountMax} chunks`, chunks.length));
  if (typeof everyChunkMax === 'number') {
    const longest = Math.max(...chunks.map((chunk) => chunk.length));
    problems.push(
      ...unless(longest <= everyChunkMax, `expected at most ${everyChunkMax} characters in a chunk`, longest),
    );
  }
  if (expect['noHalfCharacters'])
    problems.push(
      ...unless(
        [...stored, ...chunks].every((chunk) => chunk.isWellFormed()),
        'expected whole characters',
        false,
      ),
    );
  if (expect['progressEachRead'])
    problems.push(
      ...unless(
        [...stored, ...chunks].every((chunk) => chunk !== ''),
        'expected something in every chunk',
        0,
      ),
    );
  if (lastChunkContains !== undefined)
    problems.push(...unmentioned('last chunk', (chunks.at(-1) ?? '').slice(-2000), lastChunkContains));
  return problems;
};

const wrongNotice = (wanted: Readonly<Record<string, unknown>>, seen: string): string[] => {
  refuseUnread(wanted, 'what the model sees', ['maxChars', 'noticeFirst', 'noticeMentions', 'handle']);
  const { maxChars, noticeFirst, noticeMentions, handle } = wanted;
  const problems = unmentioned('notice', seen, noticeMentions);
  if (typeof maxChars === 'number')
    problems.push(...unless(seen.length <= maxChars, `expected at most ${maxChars} characters`, seen.length));
  if (noticeFirst) problems.push(...unless(/^[^\n]*\bis large\b/.test(seen), 'expected the notice first', seen));
  if (handle) problems.push(...unless(indexKeyOf(seen) !== undefined, 'expected the key of the rest', seen));
  return problems;
};

/** Reads what was stored as a model would: the outline by the key in the notice, then each chunk by the key in the outline. */
const readAll = async (gantry: Gantry, seen: string): Promise<string[]> => {
  const index = indexKeyOf(seen);
  if (index === undefined) return [seen];
  const outline = await callAs(gantry, 'get_from_working_memory', { key: index });
  const keys = [...outline.matchAll(/→ `([^`]+)`/g)].map(([, key]) => key as string);
  return await Promise.all(keys.map((key) => callAs(gantry, 'get_from_working_memory', { key })));
};

const indexKeyOf = (seen: string): string | undefined => /stored at key `([^`]+)`/.exec(seen)?.[1];

const callAs = async (gantry: Gantry, name: string, args: Record<string, string>): Promise<string> =>
  outcomeText(
    await gantry.call(name, args, {
      caller: 'model',
      namespace: 'session/field',
      model: { provider: 'openai', id: 'field' },
    }),
  );

const bigTool = (text: string) => ({
  registration: { name: 'big', description: 'Gives a big result.', source: 'field-case', inputSchema: {} },
  executor: { execute: async () => ({ status: 'done' as const, parts: [{ type: 'text' as const, text }] }) },
});
