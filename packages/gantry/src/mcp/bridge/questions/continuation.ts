import { GantryError } from '../../../kernel/errors.ts';
import type { Secrets } from '../../../store/secrets.ts';
import type { Continuation } from './question-record.ts';

/** Seals what a question's call needs to go on, bound to the question's id. */
export const sealContinuation = (secrets: Pick<Secrets, 'seal'>, id: string, continuation: Continuation): string =>
  secrets.seal(JSON.stringify(continuation), contextOf(id));

/**
 * Opens what {@link sealContinuation} made.
 * @throws {GantryError} `secret_unreadable` when the key is gone or the text was tampered with.
 */
export const openContinuation = (
  secrets: Pick<Secrets, 'open'>,
  id: string,
  sealed: string | undefined,
): Continuation => {
  if (sealed === undefined)
    throw new GantryError('secret_unreadable', `What call "${id}" needs to go on is not kept any more.`, {
      details: { name: id },
    });
  return JSON.parse(secrets.open(sealed, contextOf(id))) as Continuation;
};

const contextOf = (id: string): string => `mcp-question/${id}`;
