import { GantryError } from '../../kernel/errors.ts';

/**
 * Refuses keys, ids, names and owners with a NUL character, which PostgreSQL has no place for; every store refuses them, so that none holds
 * what another could not take. Values are JSON, where it is escaped.
 * @throws {GantryError} `invalid_arguments`
 */
export const refuseNul = (parameters: readonly unknown[]): void => {
  for (const parameter of parameters)
    if (typeof parameter === 'string' && parameter.includes('\0'))
      throw new GantryError(
        'invalid_arguments',
        `"${parameter.slice(0, 100).replaceAll('\0', '\\0')}" holds a NUL character, which keys and ids of the store may not have; leave it out.`,
      );
};
