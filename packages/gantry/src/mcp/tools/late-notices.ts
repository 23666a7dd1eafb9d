import type { Bus } from '../../bus/bus.ts';
import type { MessageHandler } from '../../bus/bus.ts';
import { topics } from '../../bus/topics.ts';
import { messageOf } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import { flattenText } from '../../text/flatten.ts';
import type { Notify } from '../../tool/ports.ts';
import type { McpLateResult } from '../wire/late-message.ts';
import { lateResultType } from '../wire/late-message.ts';

/** Tells sessions of results that come late, as notices that say which call it was and where the result is. */
export const listenForLateResults = (options: {
  readonly bus: Bus;
  readonly agent: string;
  readonly notify: Notify;
  readonly log: Log;
}): Promise<AsyncDisposable> => {
  const { bus, agent, notify, log } = options;
  const handle: MessageHandler = async ({ messageType, body }) => {
    const late = messageType === lateResultType ? lateIn(body) : undefined;
    if (!late) return 'dead-letter';
    try {
      const { namespace, kind, key } = late;
      await notify({ namespace, kind, key, text: noticeText(late) });
      return 'ack';
    } catch (error) {
      log.error({ id: late.id, reason: messageOf(error) }, 'a session could not be told of a late result');
      return 'retry';
    }
  };
  return bus.subscribe(topics.mcpTaskResultOf(agent), `${agent}.mcp-late-results`, handle);
};

/** The notice of a late result. */
export const noticeText = ({ kind, id, server, tool, status, text, key }: McpLateResult): string => {
  const call = `tool "${flattenText(tool, { maxChars: 100 })}" of server "${server}"`;
  const kept = key === undefined ? '' : ` It is kept in working memory under "${key}".`;
  const said = text === undefined ? kept : `${kept}\n${text}`;
  if (kind === 'interrupted') return text ?? `The call to ${call} (${id}) was interrupted by a restart.${kept}`;
  const what =
    kind === 'task'
      ? `The background task ${id} (${call})`
      : `The call to ${call} whose question ${id} a person answered`;
  switch (status) {
    case 'done':
      return `${what} has finished. Its result:${said}`;
    case 'failed':
      return `${what} has failed. What is known:${said}`;
    case 'parked':
      return `${what} goes on and asks again:${said}`;
  }
};

const lateIn = (body: unknown): McpLateResult | undefined => {
  if (!isObject(body)) return undefined;
  const texts = ['namespace', 'kind', 'id', 'server', 'tool', 'status'].every((key) => typeof body[key] === 'string');
  return texts ? (body as unknown as McpLateResult) : undefined;
};
