/**
 * Values that are stored encrypted only (AES-256-GCM). A secret is bound to its name: its ciphertext moved to another name does
 * not open. Readers get `secret_unreadable` rather than anything in plain text when a key is missing.
 */
export interface Secrets {
  /** Encrypts under the current key and stores, replacing what is there. */
  put(name: string, plaintext: string): Promise<void>;
  /**
   * The plain text. What was encrypted under an older key is encrypted anew on the way.
   * @throws {GantryError} `secret_unreadable` when its key is not in the keyring, or the ciphertext was tampered with.
   */
  get(name: string): Promise<string | undefined>;
  /** True when there was one. */
  delete(name: string): Promise<boolean>;
  /** Encrypts everything under the current key. Secrets that cannot be read are logged and stay as they are. */
  rotate(): Promise<{ readonly resealed: number; readonly unreadable: number }>;
  /** Encrypts a value that another record carries, bound to `context` (say, the record's id). */
  seal(plaintext: string, context: string): string;
  /**
   * Opens what {@link Secrets.seal} made under the same context.
   * @throws {GantryError} `secret_unreadable`
   */
  open(sealed: string, context: string): string;
}
