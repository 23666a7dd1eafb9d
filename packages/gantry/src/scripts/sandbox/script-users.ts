import { GantryError } from '../../kernel/errors.ts';
import type { ScriptUser } from '../process/work-folder.ts';

/** Users that belong to no account, one for each run that is under way. */
export interface ScriptUsers {
  /** Runs get users of their own, which the host's private folders are closed to. */
  readonly areUsed: boolean;
  /** Gives a user that no other run has, until it is given back; undefined where only root could switch users. */
  take(): { readonly user: ScriptUser | undefined; giveBack(): void };
}

const most = 64;

/** Makes the users of this process. As root each run gets an id of its own; otherwise scripts run as the host's user. */
export const createScriptUsers = (
  isRoot: boolean = process.getuid?.() === 0,
  pid: number = process.pid,
): ScriptUsers => {
  const taken = new Set<number>();
  return {
    areUsed: isRoot,
    take: () => {
      if (!isRoot) return { user: undefined, giveBack: () => {} };
      let slot = 0;
      while (taken.has(slot)) slot += 1;
      if (slot >= most)
        throw new GantryError(
          'limit_reached',
          `There may not be more than ${most} scripts at a time; wait for one to end.`,
          {
            details: { limit: most, scope: 'scripts' },
          },
        );
      taken.add(slot);
      // Process ids stay below 2^22, so no two hosts on one machine share a user, and no account comes near.
      const id = 1_000_000_000 + pid * most + slot;
      return { user: { uid: id, gid: id }, giveBack: () => void taken.delete(slot) };
    },
  };
};
