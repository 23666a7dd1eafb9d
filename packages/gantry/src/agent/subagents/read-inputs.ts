import { GantryError } from '../../kernel/errors.ts';
import { nearest } from '../../kernel/nearest.ts';
import { normalizeKey, sharedNamespace } from '../../memory/memory-key.ts';
import type { WorkingMemory } from '../../memory/working-memory.ts';
import { cutText } from '../../text/cut.ts';
import { fenceText } from '../../text/fence.ts';
import { flattenText } from '../../text/flatten.ts';
import type { FileVolume } from '../../volume/volume.ts';

/** Where inputs of a subagent are looked for. */
export interface InputSources {
  readonly memory: Pick<WorkingMemory, 'get' | 'list'>;
  readonly volume: Pick<FileVolume, 'openFile' | 'list'>;
}

interface Input {
  /** What the subagent reads the whole of it with. */
  readonly readWith: string;
  /** Absent: the file is no text. */
  readonly text?: string | undefined;
  readonly isCut: boolean;
}

const inputChars = 8_000;
const allChars = 24_000;

/**
 * What a task is to work with, as text for the message that hands it over: keys of working memory (without `/` those of the caller) and
 * paths of the shared folder. A long one is cut, with the way to read the rest.
 * @throws {GantryError} `invalid_arguments` naming those that do not exist, with close matches.
 */
export const readInputs = async (
  names: readonly string[],
  namespace: string,
  { memory, volume }: InputSources,
): Promise<string> => {
  const found = await Promise.all(
    names.map(async (name) => ({
      name,
      input: (await fromMemory(name, namespace, memory)) ?? (await fromFolder(name, volume)),
    })),
  );
  const missing = found.filter(({ input }) => input === undefined).map(({ name }) => name);
  if (missing.length > 0) {
    const known = await knownNames(namespace, { memory, volume });
    const lines = missing.map((name) => {
      const near = nearest(name, known);
      return `"${flattenText(name)}"${near.length > 0 ? ` (did you mean ${near.map((one) => `"${one}"`).join(', ')}?)` : ''}`;
    });
    throw new GantryError(
      'invalid_arguments',
      `No subagent was started, because these inputs do not exist: ${lines.join('; ')}. An input is a key of working memory or a path of the shared folder; list them with search_working_memory or file_list.`,
    );
  }
  let left = allChars;
  return found
    .map(({ name, input }) => {
      if (input?.text === undefined) return fenceText('input', { name }, 'No text; its path is for your tools.');
      const shown = cutText(input.text, Math.min(inputChars, left));
      left -= shown.length;
      const rest =
        shown.length < input.text.length || input.isCut ? `\n[cut here; the whole of it: ${input.readWith}]` : '';
      return fenceText('input', { name }, `${shown}${rest}`);
    })
    .join('\n');
};

const fromMemory = async (
  name: string,
  namespace: string,
  memory: InputSources['memory'],
): Promise<Input | undefined> => {
  const normal = normalizeKey(name);
  if (normal === '') return undefined;
  const entry = await memory.get(name.includes('/') ? normal : `${namespace}/${normal}`);
  return entry && { text: entry.text, isCut: false, readWith: `get_from_working_memory("${entry.key}")` };
};

const fromFolder = async (path: string, volume: InputSources['volume']): Promise<Input | undefined> => {
  try {
    await using file = await volume.openFile(path);
    const bytes = Buffer.alloc(inputChars * 4);
    const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
    const { size } = await file.stat();
    const isCut = bytesRead < size;
    // The last character may have been cut in its middle; it is left out by the limit of characters in any case.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, bytesRead), { stream: isCut });
    return { text: text.includes('\0') ? undefined : text, isCut, readWith: `file_read("${flattenText(path)}")` };
  } catch (error) {
    if (error instanceof TypeError) return { isCut: false, readWith: path };
    if (GantryError.is(error)) return undefined;
    throw error;
  }
};

const knownNames = async (namespace: string, { memory, volume }: InputSources): Promise<readonly string[]> => {
  const [own, shared, files] = await Promise.all([
    memory.list(namespace),
    memory.list(sharedNamespace),
    volume.list('.', { depth: 5, maxEntries: 500 }).catch(() => ({ entries: [] })),
  ]);
  return [
    ...own.flatMap(({ key }) => [key, key.slice(namespace.length + 1)]),
    ...shared.map(({ key }) => key),
    ...files.entries.filter(({ kind }) => kind === 'file').map(({ path }) => path),
  ];
};
