/**
 * Subscriptions to resources on a session that several use: the server is told of the first who wants to hear of a resource, and of the last
 * who does not any more. It tells of all on that session, so each picks its own.
 */
import { orAborted } from '../../../kernel/abort.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { SharedSession } from '../../wire/pass-port.ts';
import { lastOf } from '../../wire/sessions/older-session.ts';

type Session = Pick<SharedSession, 'request'>;

/** Who subscribes. */
export interface Subscriber {
  /** Whose the subscription is, until it ends it. */
  readonly holder: object;
  /** Who may hear what the server says because of it. */
  readonly owner: unknown;
}

interface Subscription {
  readonly holders: Set<object>;
  /** Resolves when the server has taken it up. */
  readonly made: Promise<unknown>;
}

const subscribed = new WeakMap<Session, Map<string, Subscription>>();
// Whoever waits has a signal of its own; the request is for all of them.
const never = new AbortController().signal;

const subscriptionsOf = (session: Session): Map<string, Subscription> => {
  const all = subscribed.get(session) ?? new Map<string, Subscription>();
  subscribed.set(session, all);
  return all;
};

const join = (session: Session, uri: string, { holder, owner }: Subscriber): Promise<unknown> => {
  const all = subscriptionsOf(session);
  let one = all.get(uri);
  if (!one) {
    const opened = {
      holders: new Set<object>(),
      made: lastOf(session.request('resources/subscribe', { uri }, { owner }), never),
    };
    opened.made.catch(() => {
      if (all.get(uri) === opened) all.delete(uri);
    });
    all.set(uri, opened);
    one = opened;
  }
  one.holders.add(holder);
  return one.made;
};

/**
 * Resolves when the server has taken up all of them for this subscriber; none of them where it refuses one.
 * @throws {GantryError} what the server says, or the signal's reason.
 */
export const subscribeShared = async (
  session: Session,
  subscriber: Subscriber,
  uris: readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  const all = subscriptionsOf(session);
  const joined = uris.filter((uri) => all.get(uri)?.holders.has(subscriber.holder) !== true);
  try {
    await orAborted(Promise.all(joined.map((uri) => join(session, uri, subscriber))), signal);
  } catch (error) {
    unsubscribeShared(session, subscriber, joined, () => {});
    throw error;
  }
};

/** Nobody waits for that; `report` hears of what fails. */
export const unsubscribeShared = (
  session: Session,
  { holder }: Pick<Subscriber, 'holder'>,
  uris: Iterable<string>,
  report: (reason: string) => void,
): void => {
  const all = subscriptionsOf(session);
  for (const uri of uris) {
    const one = all.get(uri);
    if (!one?.holders.delete(holder) || one.holders.size > 0) continue;
    all.delete(uri);
    lastOf(session.request('resources/unsubscribe', { uri }), never).catch((error: unknown) =>
      report(messageOf(error)),
    );
  }
};
