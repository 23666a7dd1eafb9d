import type { Clock, Timer } from '../../../../kernel/clock.ts';
import { crowdedOut } from '../../crowd.ts';
import type { Looking, Mailbox } from '../../mail/mailbox.ts';
import type { HeldTask } from './held-task.ts';

/** A task, and whose it is. */
export interface OwnedTask {
  readonly task: HeldTask;
  readonly client: string | undefined;
  /** Server and client, and the id that the server gave the task. */
  readonly owner: string;
}

/** Tasks that this process holds for clients. Disposing lets go of all of them. */
export interface HeldTasks extends Disposable {
  /**
   * Holds it until nobody has asked for it for an hour, or for some minutes when it is over. Where there is no room, what was not asked for
   * the longest makes it.
   */
  hold(name: string, owned: OwnedTask): Promise<void>;
  /** Undefined when it is another owner's, or not held here. */
  find(name: string, owner: string): HeldTask | undefined;
}

// A client may be away for long; a session of the server is kept open meanwhile.
const patienceMs = 60 * 60_000;
const lookMs = 5 * 60_000;
const limits = { inAll: 1_000, ofClient: 50 };

interface Held extends OwnedTask {
  readonly looking: Looking | undefined;
  /** When it was asked for. */
  readonly askedAtMs: number;
  timer: Timer;
}

/** Makes an empty set. Without a mailbox no other process finds what is held here. */
export const createHeldTasks = (clock: Clock, mailbox: Mailbox | undefined): HeldTasks => {
  // Those that were not asked for the longest come first.
  const held = new Map<string, Held>();

  const letGo = (name: string): void => {
    const found = held.get(name);
    held.delete(name);
    found?.timer.stop();
    found?.looking?.[Symbol.dispose]();
    found?.task[Symbol.dispose]();
  };
  const makeRoom = (client: string | undefined): void => {
    const oldest = crowdedOut(held, (owned) => owned.client, client, limits);
    if (oldest !== undefined) letGo(oldest);
  };
  const startTimer = (name: string): Timer =>
    clock.startTimer(lookMs, () => {
      const found = held.get(name);
      if (!found) return;
      if (found.task.isOver || clock.elapsedMs() - found.askedAtMs >= patienceMs) letGo(name);
      else found.timer = startTimer(name);
    });
  const keep = (name: string, owned: Pick<Held, keyof OwnedTask | 'looking'>): void =>
    void held.set(name, { ...owned, askedAtMs: clock.elapsedMs(), timer: startTimer(name) });

  return {
    hold: async (name, owned) => {
      letGo(name);
      makeRoom(owned.client);
      const looking = mailbox?.look();
      keep(name, { ...owned, looking });
      await looking?.isSeen;
    },
    find: (name, owner) => {
      const found = held.get(name);
      if (found?.owner !== owner) return undefined;
      found.timer.stop();
      held.delete(name);
      keep(name, found);
      return found.task;
    },
    [Symbol.dispose]: () => {
      for (const name of held.keys()) letGo(name);
    },
  };
};
