/**
 * Whose the tasks of servers are that are passed through. A server sees one client, the gateway, so to it whoever knows the id of a task may
 * read it; here it belongs to the client whose call has made it.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { KeyValue } from '../../../store/key-value.ts';
import { otherCaseOf } from '../../wire/other-case.ts';

/** Remembers them, for clients that have an identity; to others tasks are as their server has them. */
export interface TaskOwners {
  /** Remembers the task that an answer to a call brings, before the client hears of it. */
  note(server: string, client: string, result: unknown): Promise<void>;
  /** The same for the text of an answer: JSON, or events. */
  noteText(server: string, client: string, text: string): Promise<void>;
  /**
   * Whether a message is about a task that is not this client's.
   * @throws {GantryError} `store_unavailable` while that cannot be found out.
   */
  isOthers(server: string, client: string, message: Members): Promise<boolean>;
  /**
   * Those of the tasks that are this client's.
   * @throws {GantryError} `store_unavailable` while that cannot be found out.
   */
  ownOf(server: string, client: string, taskIds: readonly string[]): Promise<ReadonlySet<string>>;
}

type Members = Readonly<Record<string, unknown>>;

// A task that nobody asked about for so long is over.
const keptMs = 7 * 24 * 60 * 60_000;
const sweepEvery = 100;
// A server may list thousands of tasks; the store has others to serve beside.
const askedAtOnce = 16;

/** Makes it; neither ids nor names of clients are stored in the clear. */
export const createTaskOwners = ({
  owners,
  clock,
  log,
}: {
  readonly owners: KeyValue<string>;
  readonly clock: Clock;
  readonly log: Log;
}): TaskOwners => {
  let noted = 0;
  const keyOf = (server: string, taskId: string): string => hashOf(server, taskId);
  const remember = async (server: string, client: string, taskId: string): Promise<void> => {
    await owners.set(keyOf(server, taskId), hashOf(server, taskId, client), { ttlMs: keptMs });
    if ((noted += 1) % sweepEvery === 0) await owners.sweep();
  };
  const isOwn = async (server: string, client: string, taskId: string): Promise<boolean> => {
    const known = await owners.get(keyOf(server, taskId));
    if (known?.value !== hashOf(server, taskId, client)) return false;
    if (known.expiresAtMs !== undefined && known.expiresAtMs - clock.nowMs() < keptMs / 2)
      await remember(server, client, taskId);
    return true;
  };

  const note = async (server: string, client: string, result: unknown): Promise<void> => {
    const taskId = taskIn(result);
    if (taskId === undefined) return;
    try {
      await remember(server, client, taskId);
    } catch (error) {
      // The task runs; its client will not find it.
      log.warn({ server, reason: messageOf(error) }, 'whose a task of a server is could not be written down');
    }
  };
  return {
    note,
    noteText: async (server, client, text) => {
      // Looking for the word is much cheaper than reading every answer.
      if (!text.includes('"taskId"')) return;
      for (const message of messagesIn(text)) if (isObject(message)) await note(server, client, message['result']);
    },
    isOthers: async (server, client, message) => {
      const ids = tasksNamedIn(message);
      if (ids === 'unclear') return true;
      for (const id of ids) if (!(await isOwn(server, client, id))) return true;
      return false;
    },
    ownOf: async (server, client, taskIds) => {
      const own = new Set<string>();
      for (let from = 0; from < taskIds.length; from += askedAtOnce) {
        const look = async (taskId: string): Promise<void> => {
          if (await isOwn(server, client, taskId)) own.add(taskId);
        };
        await Promise.all(taskIds.slice(from, from + askedAtOnce).map(look));
      }
      return own;
    },
  };
};

const hashOf = (...parts: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/** The task that a result says was made: itself one in 2026-07-28 (SEP-2663), with one as a member in 2025-11-25. */
const taskIn = (result: unknown): string | undefined => {
  if (!isObject(result)) return undefined;
  const { task } = result;
  const taskId = isObject(task) ? task['taskId'] : result['taskId'];
  return typeof taskId === 'string' ? taskId : undefined;
};

const messagesIn = (text: string): unknown[] => {
  const whole = parseJson(text);
  if (whole.ok) return Array.isArray(whole.value) ? whole.value : [whole.value];
  return text.split(/\r\n\r\n|\n\n|\r\r/).flatMap((event) => {
    const lines = event.split(/\r\n|\n|\r/).filter((line) => line.startsWith('data:'));
    const parsed = parseJson(lines.map((line) => line.slice('data:'.length)).join('\n'));
    return parsed.ok ? [parsed.value] : [];
  });
};

/** The tasks that a message is about; `unclear` where servers could read that in two ways. */
const tasksNamedIn = ({ id, method, params }: Members): readonly string[] | 'unclear' => {
  if (typeof method !== 'string') return [];
  const ids: unknown[] = [];
  // What a server says while it works on such a request goes to whoever waits for the task (MCP 2025-11-25, "Tasks"). In notices and answers
  // of a client it may be a task of its own.
  if (id !== undefined) ids.push(...membersAt(params, '_meta', 'io.modelcontextprotocol/related-task', 'taskId'));
  if (method.toLowerCase().startsWith('tasks/')) ids.push(...membersAt(params, 'taskId'));
  if (method === 'subscriptions/listen')
    for (const list of membersAt(params, 'notifications', 'taskIds')) {
      if (!Array.isArray(list)) return 'unclear';
      ids.push(...(list as readonly unknown[]));
    }
  return ids.every((one) => typeof one === 'string') ? ids : 'unclear';
};

const unclear = Symbol('unclear');

/** What stands there, if anything does; `unclear` where some readers take a member of the way for one of the protocol. */
const membersAt = (value: unknown, ...way: readonly string[]): readonly unknown[] => {
  const [name, ...rest] = way;
  if (name === undefined) return value === undefined ? [] : [value];
  if (!isObject(value)) return [];
  return otherCaseOf([name])(value) === undefined ? membersAt(value[name], ...rest) : [unclear];
};
