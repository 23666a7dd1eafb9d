/** The keys that secrets are encrypted with: one encrypts, all decrypt. */
export interface Keyring {
  readonly currentId: string;
  /** 32 bytes each. Ids are stored beside the ciphertext. */
  readonly keys: ReadonlyMap<string, Buffer>;
}
