import type { Keyring } from '../store/keyring.ts';

/** A keyring of well-known keys, one per id; the last encrypts. */
export const testKeyring = (...ids: readonly [string, ...string[]]): Keyring => ({
  currentId: ids.at(-1) ?? ids[0],
  keys: new Map(ids.map((id) => [id, Buffer.from(id.padEnd(32, '-')).subarray(0, 32)])),
});
