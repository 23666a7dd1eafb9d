import { GantryError } from '../kernel/errors.ts';

/** Encryption secrets as an operator configures them, by version. */
export interface CryptoSecrets {
  readonly currentVersion: number;
  readonly byVersion: ReadonlyMap<number, string>;
}

/**
 * Reads `GANTRY_CRYPTO_SECRET` (version 1), `GANTRY_CRYPTO_SECRET_V{n}` and `GANTRY_CRYPTO_SECRET_CURRENT` (a version; default
 * the highest). Undefined when no secret is set.
 *
 * @throws {GantryError} `config_invalid` when version 1 is given twice, or the current version is not there.
 */
export const parseCryptoSecrets = (
  environment: Readonly<Record<string, string | undefined>>,
): CryptoSecrets | undefined => {
  const byVersion = new Map<number, string>();
  for (const [name, secret] of Object.entries(environment)) {
    const match = /^GANTRY_CRYPTO_SECRET(?:_V([1-9]\d*))?$/.exec(name);
    if (!match || !secret) continue;
    const version = Number(match[1] ?? 1);
    const other = byVersion.get(version);
    if (other !== undefined && other !== secret)
      throw new GantryError(
        'config_invalid',
        'GANTRY_CRYPTO_SECRET and GANTRY_CRYPTO_SECRET_V1 differ, and both are version 1; keep one of them.',
        { details: { path: 'GANTRY_CRYPTO_SECRET_V1' } },
      );
    byVersion.set(version, secret);
  }
  const chosen = environment['GANTRY_CRYPTO_SECRET_CURRENT'];
  if (!chosen) return byVersion.size === 0 ? undefined : { currentVersion: Math.max(...byVersion.keys()), byVersion };
  const currentVersion = Number(chosen.trim().replace(/^v/i, ''));
  if (!byVersion.has(currentVersion))
    throw new GantryError(
      'config_invalid',
      `GANTRY_CRYPTO_SECRET_CURRENT is "${chosen}", but there is no secret of that version; set GANTRY_CRYPTO_SECRET_V{n} or correct the version.`,
      { details: { path: 'GANTRY_CRYPTO_SECRET_CURRENT' } },
    );
  return { currentVersion, byVersion };
};
