import { GantryError } from '../../kernel/errors.ts';
import { normalizeKey } from '../../memory/memory-key.ts';
import { chunkText } from '../../text/chunker.ts';
import { fenceText } from '../../text/fence.ts';
import { toOutline } from '../../text/outline.ts';
import { truncateText } from '../../text/truncate.ts';
import { toNamedFile } from '../../tool/opaque-ids.ts';
import type { WispPorts, WispRun } from './wisp-ports.ts';

/** What a step gave that succeeded. */
export interface StepOutput {
  readonly stepId: string;
  readonly text: string;
  /** Where the whole of it is kept. */
  readonly key: string;
}

const inlineChars = 8_000;
const chunkChars = 20_000;
const chunkTtlMs = 30 * 60_000;
const previousChars = 4_000;
const mostFileBytes = 5 * 1024 * 1024;

/**
 * The content that `input_from` names: output of an earlier step, an entry of working memory (a key without `/` is the caller's), or a
 * text file of the shared folder, by its path or its id of the turn; undefined when there is none of that name.
 */
export const readData = async (
  given: string,
  { memory, volume }: Pick<WispPorts, 'memory' | 'volume'>,
  { callerNamespace, context }: WispRun,
  outputs: readonly StepOutput[],
): Promise<string | undefined> => {
  const step = outputs.find(({ stepId }) => stepId === given);
  if (step) return step.text;
  const name = toNamedFile(given, context.ids);
  const key = normalizeKey(name);
  if (key === '') return undefined;
  const entry = await memory.get(
    name.includes('/') || callerNamespace === undefined ? key : `${callerNamespace}/${key}`,
  );
  if (entry) return entry.text;
  try {
    await using file = await volume.openFile(name);
    const { size } = await file.stat();
    if (size > mostFileBytes) return undefined;
    return new TextDecoder('utf-8', { fatal: true }).decode(await file.readFile());
  } catch (error) {
    // It leads to no file of the folder, or to one that is no text.
    if (GantryError.is(error) || error instanceof TypeError) return undefined;
    throw error;
  }
};

/** Named content as it stands in the message of a model step: short content whole, longer content as an index of its parts. */
export const dataBlock = async (
  { name, stepId, text }: { readonly name: string; readonly stepId: string; readonly text: string },
  { memory }: Pick<WispPorts, 'memory'>,
  { namespace }: WispRun,
): Promise<string> => {
  if (text.length <= inlineChars) return block(name, text);
  const chunks = chunkText(text, { maxChars: chunkChars });
  const keys: string[] = [];
  for (const [at, { body }] of chunks.entries()) {
    const key = `${stepId}/input-chunk${at}`;
    const kept = await memory.stash({ namespace, key, text: body, category: 'wisp-input', ttlMs: chunkTtlMs });
    keys.push(kept ?? `${namespace}/${key}`);
  }
  const outline = toOutline(chunks, (at) => keys[at] ?? '');
  return block(
    name,
    `${text.length} characters in ${chunks.length} parts. Read the parts you need with get_from_working_memory before you draw conclusions.\n${outline}`,
  );
};

/** What the steps before gave, for a model step that names no content of its own. */
export const previousBlocks = (outputs: readonly StepOutput[]): string =>
  outputs
    .map(({ stepId, text, key }) =>
      block(
        stepId,
        truncateText(text, previousChars, {
          marker: (omitted) => `[${omitted} more characters: get_from_working_memory("${key}")]`,
        }),
      ),
    )
    .join('\n');

const block = (from: string, text: string): string => fenceText('data', { from }, text);
