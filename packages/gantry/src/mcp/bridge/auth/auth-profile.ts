import { readFile } from 'node:fs/promises';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { TokenKeeper } from './token-keeper.ts';

/** A named source of bearer tokens, for entries with `"auth": { "profile": NAME }`. */
export interface AuthProfile {
  /**
   * The token to send now; it is asked for again when a server refuses it.
   * @param rejected the token that was refused: the next one has to be another.
   * Throws when there is none now. Its servers are not offered until there is.
   */
  token(rejected?: string): Promise<string>;
}

/** Profiles by the name that entries use. */
export type AuthProfiles = Readonly<Record<string, AuthProfile>>;

/** A profile as the configuration writes it: one of the two. */
export interface AuthProfileSettings {
  /** Name of an environment variable that holds the token. */
  readonly env?: string | undefined;
  /** A file that holds the token, which something else keeps fresh; it is read anew when a server refuses what it held. */
  readonly file?: string | undefined;
}

/** The profile that settings describe. */
export const toAuthProfile = (
  { env: variable, file }: AuthProfileSettings,
  env: Readonly<Record<string, string | undefined>>,
): AuthProfile => ({
  token: async () => {
    const text = file === undefined ? env[variable ?? ''] : await readFile(file, 'utf8');
    const token = text?.trim();
    if (token) return token;
    throw new GantryError(
      'auth_required',
      file === undefined ? `The environment variable ${variable} is not set.` : `The file ${file} is empty.`,
    );
  },
});

/** Keeps the token of a profile for one server. */
export const profileKeeper = (name: string, profile: AuthProfile): TokenKeeper => {
  let known: string | undefined;
  let asking: Promise<string> | undefined;

  const ask = (rejected?: string): Promise<string> =>
    (asking ??= profile
      .token(rejected)
      .then((token) => (known = token))
      .catch((error: unknown) => {
        throw new GantryError('server_unreachable', `Auth profile "${name}" gave no token: ${messageOf(error)}`, {
          cause: error,
          retry: 'later',
        });
      })
      .finally(() => (asking = undefined)));

  return {
    isSignedIn: async () => true,
    token: async () => known ?? (await ask()),
    renew: async (rejected) => (known !== rejected ? true : (await ask(rejected)) !== rejected),
    secrets: () => (known === undefined ? [] : [known]),
  };
};
