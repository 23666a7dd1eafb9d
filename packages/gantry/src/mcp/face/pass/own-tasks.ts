import { messageOf } from '../../../kernel/errors.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import { eventTexts, isEventStream, withData } from '../../wire/sessions/event-texts.ts';
import type { EventText } from '../../wire/sessions/event-texts.ts';
import { heldStream, piecesOf } from '../../../net/held-stream.ts';
import { hasDoubles } from './unclear-message.ts';
import { unreadable } from './unreadable.ts';

/** Which of these tasks are the client's. */
export type OwnOf = (taskIds: readonly string[]) => Promise<ReadonlySet<string>>;

type Members = Readonly<Record<string, unknown>>;

/**
 * Whether an answer may list tasks (`tasks/list` of 2025-11-25). The stream that a client opens itself may bring the answer again to what it
 * has asked before.
 */
export const mayListTasks = (httpMethod: string, message: Members | undefined): boolean =>
  httpMethod === 'GET' || String(message?.['method']).toLowerCase() === 'tasks/list';

/**
 * The answer with the tasks of its client alone: a server lists those of all clients, which to it are one. Cursors of further pages stay.
 * @throws {GantryError} `store_unavailable` while it cannot be found out whose they are; `execution_failed` for an answer that cannot be
 * read. A stream has a JSON-RPC error in the place of such an event.
 */
export const withOwnTasks = async (response: Response, server: string, ownOf: OwnOf): Promise<Response> => {
  const { body, headers } = response;
  if (!body) return response;
  if (!isEventStream(headers)) {
    const text = await response.text();
    return new Response(response.ok ? await ownIn(text, server, ownOf) : text, response);
  }
  const reader = body.getReader();
  const events = eventTexts(piecesOf(reader));
  const encoder = new TextEncoder();
  const next = async (): Promise<Uint8Array | undefined> => {
    const { done, value } = await events.next();
    return done ? undefined : encoder.encode(await ownInEvent(value, server, ownOf));
  };
  return new Response(heldStream(reader, next, new DisposableStack()), response);
};

const ownInEvent = async (event: EventText, server: string, ownOf: OwnOf): Promise<string> => {
  const { text, data } = event;
  if (data === '') return text;
  try {
    const said = await ownIn(data, server, ownOf);
    return said === data ? text : withData(event, said);
  } catch (error) {
    const parsed = parseJson(data);
    const id = parsed.ok && isObject(parsed.value) ? parsed.value['id'] : undefined;
    const refusal = { jsonrpc: '2.0', id: id ?? null, error: { code: -32_603, message: messageOf(error) } };
    return withData(event, JSON.stringify(refusal));
  }
};

// In any spelling that JSON allows; looking for a word is much cheaper than reading every message.
const mayHaveTasks = /tasks|\\u/;

const ownIn = async (text: string, server: string, ownOf: OwnOf): Promise<string> => {
  if (!mayHaveTasks.test(text)) return text;
  const parsed = parseJson(text);
  if (!parsed.ok) throw unreadable(server);
  const { value } = parsed;
  const messages: readonly unknown[] = Array.isArray(value) ? value : [value];
  const ids = messages.flatMap((message) => listedIn(message) ?? []).flatMap((task) => taskIdOf(task) ?? []);
  if (!messages.some(listedIn)) return text;
  const own = await ownOf(ids);
  let isSame = true;
  const said = messages.map((message) => {
    const listed = listedIn(message);
    if (!listed) return message;
    const kept = listed.filter((task) => own.has(taskIdOf(task) ?? ''));
    if (kept.length === listed.length) return message;
    isSame = false;
    const { result, ...rest } = message as { readonly result: Members };
    return { ...rest, result: { ...result, tasks: kept } };
  });
  // What can be read in two ways goes on in the one that was looked at.
  if (isSame && !hasDoubles(text, value)) return text;
  return JSON.stringify(Array.isArray(value) ? said : said[0]);
};

const listedIn = (message: unknown): readonly unknown[] | undefined => {
  const result = isObject(message) ? message['result'] : undefined;
  const tasks = isObject(result) ? result['tasks'] : undefined;
  return Array.isArray(tasks) ? tasks : undefined;
};

const taskIdOf = (task: unknown): string | undefined => {
  const taskId = isObject(task) ? task['taskId'] : undefined;
  return typeof taskId === 'string' ? taskId : undefined;
};
