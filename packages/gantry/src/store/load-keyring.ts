import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { GantryError } from '../kernel/errors.ts';
import type { CryptoSecrets } from './crypto-secrets.ts';
import { openKeyFile, readEarlierKeys } from './key-file.ts';
import type { Keyring } from './keyring.ts';

/**
 * Loads the keyring: from the configured secrets when there are any, else from the key file, which is made on first use. Keys of
 * an existing key file stay readable after a switch to configured secrets.
 *
 * @throws {GantryError} `config_invalid` when a secret is too short, the current version is missing, or the key file lies in the
 * data folder, is readable by others, is damaged or cannot be read or made.
 */
export const loadKeyring = async (options: {
  readonly configured: CryptoSecrets | undefined;
  /** In the user's configuration folder. */
  readonly keyFile: string;
  /** The key must not travel with the data it protects, in a backup say. */
  readonly dataDir: string;
}): Promise<Keyring> => {
  const { configured, keyFile, dataDir } = options;
  if (!configured) return openKeyFile(keyFile, dataDir);
  const earlier = await readEarlierKeys(keyFile, dataDir);
  const keys = new Map(earlier?.keys);
  for (const [version, secret] of configured.byVersion) keys.set(keyIdOf(version), await deriveKey(version, secret));
  return { currentId: keyIdOf(configured.currentVersion), keys };
};

const keyIdOf = (version: number): string => `v${version}`;

const leastSecretLength = 16;

const deriveKey = async (version: number, secret: string): Promise<Buffer> => {
  if (secret.length < leastSecretLength)
    throw new GantryError(
      'config_invalid',
      `The encryption secret of version ${version} has ${secret.length} characters; use at least ${leastSecretLength}, for example from "openssl rand -base64 32".`,
      { details: { version } },
    );
  // The salt is fixed so that replicas with the same secret have the same key.
  return (await promisify(scrypt)(secret, 'gantry/keyring', 32)) as Buffer;
};
