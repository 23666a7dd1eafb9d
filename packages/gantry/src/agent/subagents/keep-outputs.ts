import type { WorkingMemory } from '../../memory/working-memory.ts';

const keptForMs = 4 * 3_600_000;
/** Parts of long results of tools, which the run has read or not; they are no output. */
const innerCategory = 'tool-result';

/**
 * Keeps what a subagent leaves for four hours at least, its last words among it, and gives the keys, newest first. An entry that it saved for a few
 * minutes would be gone before anybody could read it.
 */
export const keepOutputs = async (
  memory: Pick<WorkingMemory, 'list' | 'save' | 'stash'>,
  { namespace, text, nowMs }: { readonly namespace: string; readonly text: string; readonly nowMs: number },
): Promise<readonly string[]> => {
  const outputs = (await memory.list(namespace)).filter(({ category }) => category !== innerCategory);
  for (const { key, text: saved, category, tags, expiresAtMs } of outputs)
    if (expiresAtMs < nowMs + keptForMs) await memory.save(key, saved, { ttlMs: keptForMs, category, tags });
  const keys = outputs.map(({ key }) => key);
  if (text === '') return keys;
  const entry = { namespace, key: 'result', text, category: 'subagent-output', ttlMs: keptForMs };
  const isTaken = keys.some((key) => key.toLowerCase() === `${namespace}/result`);
  const kept = await memory.stash(isTaken ? { ...entry, key: 'last-words' } : entry);
  return kept === undefined ? keys : [...keys, kept];
};
