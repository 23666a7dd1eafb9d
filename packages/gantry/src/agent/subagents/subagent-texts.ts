import { flattenText } from '../../text/flatten.ts';
import { truncateText } from '../../text/truncate.ts';
import type { SubagentResult } from './subagent-record.ts';

const resultChars = 8_000;
const taskChars = 200;
const mostKeys = 20;

/** What a conversation is told when a subagent has ended. */
export const resultNotice = (
  taskId: string,
  { description, result }: { readonly description: string; readonly result: SubagentResult },
): string => {
  const { text, error, keys } = result;
  const how = error === undefined ? 'completed' : `completed with error: ${flattenText(error, { maxChars: 500 })}`;
  const shown = keys.slice(0, mostKeys).map((key) => `- \`${key}\``);
  const more = keys.length - shown.length;
  return [
    `[Subagent task ${taskId} ${how}]: ${quoted(truncateText(text, resultChars)) || '(it said nothing)'}`,
    `Its task was: ${flattenText(description, { maxChars: taskChars })}`,
    ...(shown.length > 0
      ? [
          `It left in working memory (read with get_from_working_memory${more > 0 ? `; ${more} more with search_working_memory` : ''}):`,
          ...shown,
        ]
      : []),
  ].join('\n');
};

/** What a conversation is told of several that ended: once, to be answered once. */
export const joinedNotice = (notices: readonly string[]): string =>
  notices.length === 1
    ? (notices[0] ?? '')
    : `${notices.length} subagents have ended. Put their results together into one answer.\n\n${notices.join('\n\n')}`;

/** What a conversation is told while a subagent works. */
export const progressNotice = (taskId: string, message: string): string =>
  `[Subagent task ${taskId} reports]: ${quoted(message)}`;

/** What a conversation is told when something comes for a subagent that has ended. */
export const lateNotice = (taskId: string, text: string): string =>
  `[Subagent task ${taskId} has ended, and this came for it later]: ${quoted(text)}`;

/** What a subagent says may hold what pages and servers said: nothing in it looks like a notice of ours. */
const quoted = (text: string): string =>
  text.replaceAll(/\[(?=\s*(?:subagent task|notice of the system|scheduled task)\b)/gi, '(');

/** The running subagents of a conversation, for its model. */
export const describeRunning = (
  running: readonly { readonly taskId: string; readonly description: string; readonly elapsedMs: number }[],
): string =>
  running.length === 0
    ? 'There are no active subagents.'
    : [
        `${running.length} active ${running.length === 1 ? 'subagent' : 'subagents'}:`,
        ...running.map(
          ({ taskId, description, elapsedMs }) =>
            `- ${taskId}, for ${Math.floor(elapsedMs / 1000)} s: ${flattenText(description, { maxChars: taskChars })}`,
        ),
      ].join('\n');
