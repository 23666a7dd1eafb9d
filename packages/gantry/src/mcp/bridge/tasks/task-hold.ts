import { GantryError } from '../../../kernel/errors.ts';
import type { Secrets } from '../../../store/secrets.ts';
import type { TaskHold } from './task-record.ts';

/** Seals what following a task needs, bound to the task's id. */
export const sealHold = (secrets: Pick<Secrets, 'seal'>, id: string, hold: TaskHold): string =>
  secrets.seal(JSON.stringify(hold), contextOf(id));

/**
 * Opens what {@link sealHold} made.
 * @throws {GantryError} `secret_unreadable` when the key is gone or the text was tampered with.
 */
export const openHold = (secrets: Pick<Secrets, 'open'>, id: string, sealed: string | undefined): TaskHold => {
  if (sealed === undefined)
    throw new GantryError('secret_unreadable', `What task "${id}" needs is not kept any more.`, {
      details: { name: id },
    });
  return JSON.parse(secrets.open(sealed, contextOf(id))) as TaskHold;
};

const contextOf = (id: string): string => `mcp-task/${id}`;
