/**
 * Subscriptions to resources on a session that several use: the server is told of the first who wants to hear of a resource, and of the last
 * who does not any more. It tells of all on that session, so each picks its own.
 */
import { orAborted } from '../../../kernel/abort.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { SharedSession } from '../../wire/pass-port.ts';
import { lastOf } from '../../wire/sessions/older-session.ts';

type Session = Pick<SharedSession, 'request'>;

interface Subscription {
  readonly owners: Set<object>;
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

const join = (session: Session, uri: string, owner: object): Promise<unknown> => {
  const all = subscriptionsOf(session);
  let one = all.get(uri);
  if (!one) {
    const opened = { owners: new Set<object>(), made: lastOf(session.request('resources/subscribe', { uri }), never) };
    opened.made.catch(() => {
      if (all.get(uri) === opened) all.delete(uri);
    });
    all.set(uri, opened);
    one = opened;
  }
  one.owners.add(owner);
  return one.made;
};

/**
 * Resolves when the server has taken up all of them for this owner; none of them where it refuses one.
 * @throws {GantryError} what the server says, or the signal's reason.
 */
export const subscribeShared = async (
  session: Session,
  owner: object,
  uris: readonly string[],
  signal: AbortSignal,
): Promise<void> => {
  const all = subscriptionsOf(session);
  const joined = uris.filter((uri) => all.get(uri)?.owners.has(owner) !== true);
  try {
    await orAborted(Promise.all(joined.map((uri) => join(session, uri, owner))), signal);
  } catch (error) {
    unsubscribeShared(session, owner, joined, () => {});
    throw error;
  }
};

/** Nobody waits for that; `report` hears of what fails. */
export const unsubscribeShared = (
  session: Session,
  owner: object,
  uris: Iterable<string>,
  report: (reason: string) => void,
): void => {
  const all = subscriptionsOf(session);
  for (const uri of uris) {
    const one = all.get(uri);
    if (!one?.owners.delete(owner) || one.owners.size > 0) continue;
    all.delete(uri);
    lastOf(session.request('resources/unsubscribe', { uri }), never).catch((error: unknown) =>
      report(messageOf(error)),
    );
  }
};
