/**
 * Subscriptions to resources on a session that several use: the server is told of the first who wants to hear of a resource, and of the last
 * who does not any more. It tells of all on that session, so each picks its own.
 */
import { messageOf } from '../../../kernel/errors.ts';
import type { SharedSession } from '../../wire/pass-port.ts';
import { lastOf } from '../../wire/sessions/older-session.ts';

type Session = Pick<SharedSession, 'request'>;

const counted = new WeakMap<Session, Map<string, number>>();

const countsOf = (session: Session): Map<string, number> => {
  const counts = counted.get(session) ?? new Map<string, number>();
  counted.set(session, counts);
  return counts;
};

/**
 * Resolves when the server has taken up all of them; none of them where it refuses one.
 * @throws {GantryError} what the server says, or the signal's reason.
 */
export const subscribeShared = async (session: Session, uris: Iterable<string>, signal: AbortSignal): Promise<void> => {
  const counts = countsOf(session);
  const done: string[] = [];
  try {
    for (const uri of uris) {
      if (!counts.has(uri)) await lastOf(session.request('resources/subscribe', { uri }), signal);
      counts.set(uri, (counts.get(uri) ?? 0) + 1);
      done.push(uri);
    }
  } catch (error) {
    unsubscribeShared(session, done, () => {});
    throw error;
  }
};

/** Nobody waits for that; `report` hears of what fails. */
export const unsubscribeShared = (session: Session, uris: Iterable<string>, report: (reason: string) => void): void => {
  const counts = countsOf(session);
  for (const uri of uris) {
    const left = (counts.get(uri) ?? 1) - 1;
    if (left > 0) {
      counts.set(uri, left);
      continue;
    }
    counts.delete(uri);
    const ended = lastOf(session.request('resources/unsubscribe', { uri }), new AbortController().signal);
    ended.catch((error: unknown) => report(messageOf(error)));
  }
};
