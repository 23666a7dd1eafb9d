import type { Notify } from '../../tool/ports.ts';

/** A result that came late. */
export type LateNotice = Parameters<Notify>[0];

/** Results that come late for a run that still works: it takes them between its rounds. */
export interface TaskInbox {
  /** False when the run has ended: the notice is for somebody else. */
  put(notice: LateNotice): boolean;
  /** Takes everything that came since. */
  take(): readonly LateNotice[];
  /** A notice that has come names this id, taken or not. */
  hasHeardOf(id: string): boolean;
  /** Resolves with the next notice. */
  next(): Promise<void>;
  /** Takes nothing more, and gives what nobody has taken. */
  close(): readonly LateNotice[];
}

/** Makes an empty inbox. */
export const createTaskInbox = (): TaskInbox => {
  const heard: LateNotice[] = [];
  let taken = 0;
  let isOpen = true;
  let coming = Promise.withResolvers<void>();

  const take = (): readonly LateNotice[] => {
    const fresh = heard.slice(taken);
    taken = heard.length;
    return fresh;
  };
  return {
    put: (notice) => {
      if (!isOpen) return false;
      // At least once is the rule of notices: the same one may come again.
      if (!heard.some(({ text }) => text === notice.text)) heard.push(notice);
      coming.resolve();
      coming = Promise.withResolvers();
      return true;
    },
    take,
    hasHeardOf: (id) => heard.some(({ text }) => text.includes(id)),
    next: () => coming.promise,
    close: () => {
      isOpen = false;
      return take();
    },
  };
};
