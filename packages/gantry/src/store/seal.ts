import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { GantryError } from '../kernel/errors.ts';
import type { Keyring } from './keyring.ts';

// AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce and a 128-bit tag.
const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** What a sealed text belongs to; it does not open under any other. */
export interface Binding {
  readonly purpose: 'stored' | 'carried';
  readonly name: string;
}

/** Encrypts under the current key: `{keyId}.{base64url of nonce, tag, ciphertext}`. */
export const sealText = (keyring: Keyring, plaintext: string, boundTo: Binding): string => {
  const keyId = keyring.currentId;
  const nonce = randomBytes(nonceBytes);
  const cipher = createCipheriv(algorithm, keyOf(keyring, keyId, boundTo), nonce, { authTagLength: tagBytes });
  cipher.setAAD(associatedData(keyId, boundTo));
  const ciphertext = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final()]);
  return `${keyId}.${Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
};

/**
 * Decrypts what {@link sealText} made.
 * @throws {GantryError} `secret_unreadable`
 */
export const openText = (keyring: Keyring, sealed: string, boundTo: Binding): string => {
  const keyId = keyIdOf(sealed);
  const key = keyOf(keyring, keyId, boundTo);
  const bytes = Buffer.from(sealed.slice(keyId.length + 1), 'base64url');
  try {
    const decipher = createDecipheriv(algorithm, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
    decipher.setAAD(associatedData(keyId, boundTo));
    decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
    const plaintext = Buffer.concat([decipher.update(bytes.subarray(nonceBytes + tagBytes)), decipher.final()]);
    return plaintext.toString('utf8');
  } catch (error) {
    throw unreadable(boundTo, keyId, 'was changed, moved, or encrypted with another key of that id', error);
  }
};

/** Which key a sealed text needs. */
export const keyIdOf = (sealed: string): string => sealed.slice(0, Math.max(0, sealed.indexOf('.')));

const associatedData = (keyId: string, boundTo: Binding): Buffer =>
  Buffer.from(`gantry\0${keyId}\0${boundTo.purpose}\0${boundTo.name}`, 'utf8');

const keyOf = (keyring: Keyring, keyId: string, boundTo: Binding): Buffer => {
  const key = keyring.keys.get(keyId);
  if (!key) throw unreadable(boundTo, keyId, `needs the key "${keyId}", which is not in the keyring`);
  return key;
};

const unreadable = ({ name }: Binding, keyId: string, problem: string, cause?: unknown): GantryError =>
  new GantryError(
    'secret_unreadable',
    `The secret "${name}" ${problem}; bring that key back, or set the secret again.`,
    { details: { name, keyId }, cause },
  );
