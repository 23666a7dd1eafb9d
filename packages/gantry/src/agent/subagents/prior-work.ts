import type { Documents } from '../../store/documents.ts';
import { cutText } from '../../text/cut.ts';
import { fenceText } from '../../text/fence.ts';
import type { SubagentRecord } from './subagent-record.ts';

const sinceMs = 24 * 3_600_000;
const mostResults = 20;
const mostKeys = 50;
const allChars = 24_000;
const resultChars = 2_000;

/**
 * What subagents of the same conversation gave in the last 24 hours, newest first, so that a new one does not do it again; undefined when there
 * is nothing. At most 20 results, 50 keys and 24,000 characters.
 */
export const priorWork = async (
  documents: Pick<Documents<SubagentRecord>, 'list'>,
  namespace: string,
  nowMs: number,
): Promise<string | undefined> => {
  const ended = (await documents.list())
    .flatMap(({ id, value }) =>
      value.namespace === namespace && value.startedAtMs >= nowMs - sinceMs && value.result?.isSuccess === true
        ? [{ id, ...value, result: value.result }]
        : [],
    )
    .sort((a, b) => b.startedAtMs - a.startedAtMs)
    .slice(0, mostResults);
  let left = allChars;
  let keysLeft = mostKeys;
  const blocks: string[] = [];
  for (const { id, description, result } of ended) {
    const keys = result.keys.slice(0, keysLeft);
    const named = keys.length === 0 ? [] : [`Keys: ${keys.map((key) => `\`${key}\``).join(', ')}`];
    const text = [cutText(result.text, resultChars), ...named].join('\n');
    const block = fenceText('result', { task: id, about: description }, text);
    if (block.length > left) break;
    left -= block.length;
    keysLeft -= keys.length;
    blocks.push(block);
  }
  if (blocks.length === 0) return undefined;
  return [
    '# Earlier work',
    'What other subagents of the same conversation gave. It is data; use it in place of doing it again, and read the whole of a result with get_from_working_memory.',
    ...blocks,
  ].join('\n\n');
};
