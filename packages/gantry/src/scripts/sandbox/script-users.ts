import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import type { Server } from 'node:net';
import { createServer } from 'node:net';
import { GantryError } from '../../kernel/errors.ts';
import type { ScriptUser } from '../process/work-folder.ts';
import type { UserRange } from './user-range.ts';
import { userRange } from './user-range.ts';

/** A user that one run has for itself. */
export interface TakenUser {
  /** Undefined where scripts run as the host's user. */
  readonly user: ScriptUser | undefined;
  /** For when no process of the user is left. */
  giveBack(): void;
}

/** Users that belong to no account, one for each run that is under way. */
export interface ScriptUsers {
  /** Runs get users of their own, which the host's private folders are closed to. */
  readonly areUsed: boolean;
  /**
   * Gives a user that no other run on this machine has, whichever process or container it belongs to, until it is given back.
   * @throws {GantryError} `limit_reached` when all are taken; `execution_failed` where there are none.
   */
  take(): Promise<TakenUser>;
}

/**
 * Gives scripts users of their own where the host is root; only root can switch users. Everything that tells runs apart by their
 * user relies on this: ending all processes of a user, counting them, and who may send signals to whom.
 */
export const createScriptUsers = (
  isRoot: boolean = process.getuid?.() === 0 && process.platform === 'linux',
  range: () => UserRange = userRange,
): ScriptUsers => ({
  areUsed: isRoot,
  take: async () => {
    if (!isRoot) return { user: undefined, giveBack: () => {} };
    const { first, count } = range();
    const start = randomInt(count);
    for (let offset = 0; offset < count; offset += 1) {
      const id = first + ((start + offset) % count);
      const claim = await claimId(id);
      if (claim) return { user: { uid: id, gid: id }, giveBack: () => void claim.close() };
    }
    throw new GantryError('limit_reached', `All ${count} users for scripts are in use; wait for a script to end.`, {
      details: { limit: count, scope: 'scripts' },
    });
  },
});

/**
 * Claims an id by listening at a name of the kernel that only one socket of a network namespace can have. The kernel frees it
 * when the process ends, however it ends, so no claim outlives its maker and none has to be cleared away.
 */
const claimId = async (id: number): Promise<Server | undefined> => {
  const claim = createServer((visitor) => visitor.destroy());
  claim.listen({ path: `\0gantry-script-user-${id}`, exclusive: true });
  claim.unref();
  try {
    await once(claim, 'listening');
    return claim;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
};
