import { GantryError } from '../kernel/errors.ts';
import type { Documents } from './documents.ts';

// Whoever loses has been overtaken by one that won, so this many losses need as many others at the same moment.
const mostAttempts = 100;

/**
 * Changes a document as if nobody else did: `change` gets what is stored and gives what is to be stored, or undefined to leave it; it is asked
 * again when somebody wrote in between.
 * @throws {GantryError} `revision_conflict` when others wrote in between a hundred times.
 */
export const editDocument = async <T>(
  documents: Pick<Documents<T>, 'get' | 'put'>,
  id: string,
  change: (current: T | undefined) => T | undefined,
): Promise<void> => {
  for (let attempt = 1; ; attempt += 1) {
    const stored = await documents.get(id);
    const value = change(stored?.value);
    if (value === undefined) return;
    try {
      await documents.put(id, value, { ifRevision: stored?.revision ?? 0 });
      return;
    } catch (error) {
      if (!GantryError.is(error) || error.code !== 'revision_conflict' || attempt === mostAttempts) throw error;
    }
  }
};
