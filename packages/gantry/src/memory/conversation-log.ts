import type { Clock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import type { Store } from '../store/store.ts';
import { cutText } from '../text/cut.ts';
import type { AssistantTurn, StoredTurn, UserTurn } from './conversation-turn.ts';
import { isOfPerson } from './conversation-turn.ts';

/** What is known of a conversation without reading it. */
export interface ConversationHead {
  /** Working-memory namespace of the session: `session/{id}`. */
  readonly namespace: string;
  readonly workspace?: string | undefined;
  /** The first words of the user. */
  readonly title: string;
  readonly turns: number;
  readonly startedAtMs: number;
  readonly lastAtMs: number;
}

/** What the user said last: his own words only, not what the agent tells itself. */
export interface LastUserTurn {
  readonly atMs: number;
  /** At most 2,000 characters. */
  readonly text: string;
}

/**
 * The conversations of an agent, by namespace (`session/{id}`). Turns are durable before a promise resolves. The newest turns of a
 * conversation are kept; a conversation that nobody adds to is forgotten in the end.
 */
export interface ConversationLog {
  /** Adds a turn and gives its number. */
  append(
    namespace: string,
    turn: UserTurn | AssistantTurn,
    options?: { readonly workspace?: string | undefined },
  ): Promise<number>;
  /** Writes a turn again, as it goes on. One that was forgotten meanwhile stays forgotten. */
  update(namespace: string, number: number, turn: AssistantTurn): Promise<void>;
  /** The last turns, oldest first. */
  recentTurns(namespace: string, limit: number): Promise<readonly StoredTurn[]>;
  lastUserTurn(namespace: string): Promise<LastUserTurn | undefined>;
  /** What is known of one conversation. */
  head(namespace: string): Promise<ConversationHead | undefined>;
  /** All conversations, the one that was added to last first. */
  list(): Promise<readonly ConversationHead[]>;
  /** Forgets a conversation; true when there was one. */
  forget(namespace: string): Promise<boolean>;
  /** Frees what has become too old; gives how many conversations were forgotten. */
  sweep(): Promise<number>;
}

interface StoredHead extends Omit<ConversationHead, 'namespace' | 'turns'> {
  readonly nextNumber: number;
  readonly lastUser?: LastUserTurn | undefined;
}

const dayMs = 24 * 3_600_000;
const titleChars = 80;
const lastUserChars = 2_000;

/** Makes the log over a store. */
export const createConversationLog = (options: {
  readonly store: Pick<Store, 'keyValue' | 'documents'>;
  readonly clock: Clock;
  /** Turns that are kept of one conversation; default 200. */
  readonly maxTurns?: number | undefined;
  /** Days after which a conversation without a new turn is forgotten; default 90. */
  readonly keptDays?: number | undefined;
}): ConversationLog => {
  const { store, clock, maxTurns = 200, keptDays = 90 } = options;
  const turns = store.keyValue<UserTurn | AssistantTurn>('conversation-turns');
  const heads = store.documents<StoredHead>('conversations');
  const ttlMs = keptDays * dayMs;

  const keyOf = (namespace: string, number: number): string => `${namespace}/${String(number).padStart(10, '0')}`;

  /** Takes the next number of a conversation; another process may take one at the same time. */
  const takeNumber = async (
    namespace: string,
    turn: UserTurn | AssistantTurn,
    workspace: string | undefined,
  ): Promise<number> => {
    for (;;) {
      const stored = await heads.get(namespace);
      const before = stored?.value;
      const number = before?.nextNumber ?? 1;
      const spoken = isOfPerson(turn) ? turn : undefined;
      const head: StoredHead = {
        workspace: before?.workspace ?? workspace,
        title: before?.title || cutText(spoken?.text.trim() ?? '', titleChars),
        startedAtMs: before?.startedAtMs ?? turn.atMs,
        lastAtMs: turn.atMs,
        nextNumber: number + 1,
        lastUser: spoken ? { atMs: spoken.atMs, text: cutText(spoken.text, lastUserChars) } : before?.lastUser,
      };
      try {
        await heads.put(namespace, head, { ifRevision: stored?.revision ?? 0 });
        return number;
      } catch (error) {
        if (!GantryError.is(error) || error.code !== 'revision_conflict') throw error;
      }
    }
  };

  const forget = async (namespace: string): Promise<boolean> => {
    const gone = await heads.delete(namespace);
    for (const { key } of await turns.list(namespace)) await turns.delete(key);
    return gone;
  };

  return {
    append: async (namespace, turn, { workspace } = {}) => {
      const number = await takeNumber(namespace, turn, workspace);
      await turns.set(keyOf(namespace, number), turn, { ttlMs });
      if (number > maxTurns) await turns.delete(keyOf(namespace, number - maxTurns));
      return number;
    },
    update: async (namespace, number, turn) => {
      const key = keyOf(namespace, number);
      if (await turns.get(key)) await turns.set(key, turn, { ttlMs });
    },
    recentTurns: async (namespace, limit) => {
      const next = (await heads.get(namespace))?.value.nextNumber ?? 1;
      const oldest = Math.max(1, next - Math.min(maxTurns, limit));
      const found: StoredTurn[] = [];
      for (let number = oldest; number < next; number += 1) {
        const turn = await turns.get(keyOf(namespace, number));
        if (turn) found.push({ ...turn.value, number });
      }
      return found;
    },
    lastUserTurn: async (namespace) => (await heads.get(namespace))?.value.lastUser,
    head: async (namespace) => {
      const stored = await heads.get(namespace);
      return stored && toHead(namespace, stored.value, maxTurns);
    },
    list: async () =>
      (await heads.list())
        .map(({ id, value }) => toHead(id, value, maxTurns))
        .sort((a, b) => b.lastAtMs - a.lastAtMs || (a.namespace < b.namespace ? -1 : 1)),
    forget,
    sweep: async () => {
      let forgotten = 0;
      for (const { id, value } of await heads.list())
        if (value.lastAtMs + ttlMs <= clock.nowMs() && (await forget(id))) forgotten += 1;
      await turns.sweep();
      return forgotten;
    },
  };
};

const toHead = (
  namespace: string,
  { workspace, title, startedAtMs, lastAtMs, nextNumber }: StoredHead,
  maxTurns: number,
): ConversationHead => ({
  namespace,
  workspace,
  title,
  startedAtMs,
  lastAtMs,
  turns: Math.min(maxTurns, nextNumber - 1),
});
