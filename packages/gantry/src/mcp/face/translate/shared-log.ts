/**
 * The log of a program of 2025 that several share. It has one level for all of them: the lowest that anybody wants. What is below the level of
 * one is left out for that one.
 */
import { messageOf } from '../../../kernel/errors.ts';
import { logLevels } from '../../wire/sessions/client-says.ts';
import type { SharedSession } from '../../wire/pass-port.ts';
import type { Notice } from '../../wire/sessions/exchange.ts';
import { lastOf } from '../../wire/sessions/older-session.ts';

type Session = Pick<SharedSession, 'request'>;

interface Wishes {
  readonly levels: Map<object, string>;
  asked?: string | undefined;
}

const wished = new WeakMap<Session, Wishes>();

/**
 * Has the program send what this owner wants to hear, from its level on; undefined for nothing. A program that refuses serves everybody all
 * the same; `report` hears of it.
 */
export const wishSharedLog = (
  session: Session,
  owner: object,
  level: string | undefined,
  report: (reason: string) => void,
): void => {
  const wishes: Wishes = wished.get(session) ?? { levels: new Map() };
  wished.set(session, wishes);
  if (level === undefined) wishes.levels.delete(owner);
  else wishes.levels.set(owner, level);
  const lowest = logLevels.find((one) => wishes.levels.values().some((wanted) => wanted === one));
  if (lowest === undefined || lowest === wishes.asked) return;
  wishes.asked = lowest;
  // Messages are read in their order, so it holds for what is asked next.
  const answered = lastOf(session.request('logging/setLevel', { level: lowest }), new AbortController().signal);
  answered.catch((error: unknown) => report(messageOf(error)));
};

/** Whether a notice is a message of the log below a level; one of a level that is not known is not. */
export const isBelow = ({ method, params: { level } }: Notice, wanted: string): boolean => {
  if (method !== 'notifications/message') return false;
  const said = logLevels.findIndex((one) => one === level);
  return said >= 0 && said < logLevels.indexOf(wanted);
};
