import { GantryError } from '../../kernel/errors.ts';
import type { Documents } from '../../store/documents.ts';

// Clocks of processes differ, by less than this.
const keptMinutes = 60;
const pageSize = 500;

/** Deletes the counts of clients that have made no call for an hour before `minute`, which is counted from the epoch. */
export const sweepWindows = async (
  windows: Pick<Documents<{ readonly minute: number }>, 'list' | 'delete'>,
  minute: number,
): Promise<void> => {
  let after: string | undefined;
  for (;;) {
    const page = await windows.list({ after, limit: pageSize });
    for (const { id, value, revision } of page) {
      if (value.minute >= minute - keptMinutes) continue;
      try {
        await windows.delete(id, { ifRevision: revision });
      } catch (error) {
        // Its client has come back.
        if (!GantryError.is(error) || error.code !== 'revision_conflict') throw error;
      }
    }
    after = page.at(-1)?.id;
    if (page.length < pageSize) return;
  }
};
