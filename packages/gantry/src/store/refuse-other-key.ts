import { GantryError } from '../kernel/errors.ts';
import type { Store } from './store.ts';

interface KeyCheck {
  readonly keyId: string;
  readonly sealed: string;
}

const id = 'key-check';

/**
 * Makes sure that this process reads what others wrote encrypted who share the store. The first who opens it leaves a sealed text behind, and
 * whoever comes later has to be able to open it; one with a newer key seals it anew.
 *
 * @param currentKeyId the key that this process encrypts with.
 * @throws {GantryError} `config_invalid` with another key than the others.
 */
export const refuseOtherKey = async (store: Store, currentKeyId: string): Promise<void> => {
  const checks = store.documents<KeyCheck>('store');
  const leave = async (ifRevision: number): Promise<void> => {
    const check = { keyId: currentKeyId, sealed: store.secrets.seal('gantry', id) };
    await checks.put(id, check, { ifRevision }).catch((error: unknown) => {
      // Another was faster; what it left is looked at.
      if (!GantryError.is(error) || error.code !== 'revision_conflict') throw error;
    });
  };
  if (!(await checks.get(id))) await leave(0);
  const found = await checks.get(id);
  if (!found) return;
  const { keyId, sealed } = found.value;
  try {
    store.secrets.open(sealed, id);
  } catch (error) {
    if (!GantryError.is(error) || error.code !== 'secret_unreadable') throw error;
    throw new GantryError(
      'config_invalid',
      `The store is encrypted with another key ("${keyId}") than this process has ("${currentKeyId}"), so it could not read the secrets in it: give all that share the store the same GANTRY_CRYPTO_SECRET, or the same key file. If that key is lost for good, see "A lost key" in docs/scaling-out.md.`,
      { details: { path: 'GANTRY_CRYPTO_SECRET', keyId }, cause: error },
    );
  }
  if (keyId !== currentKeyId) await leave(found.revision);
};
