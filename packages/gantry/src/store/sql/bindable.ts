import type { CompiledQuery } from 'kysely';
import { GantryError } from '../../kernel/errors.ts';

/**
 * The parameters of a statement as both databases take them. Keys, ids, names and owners have no NUL character, for which PostgreSQL has no
 * place, and no half of a surrogate pair, which both would write as U+FFFD, so that several keys became one. Nothing of that kind is
 * written; looked for, it is not there, since in SQL null equals nothing. Values are JSON, where both are escaped.
 * @throws {GantryError} `invalid_arguments` where one would be written.
 */
export const bindable = ({ query, parameters }: CompiledQuery): readonly unknown[] => {
  if (parameters.every(isBindable)) return parameters;
  if (query.kind !== 'InsertQueryNode') return parameters.map((one) => (isBindable(one) ? one : null));
  const refused = parameters.find((one) => !isBindable(one)) as string;
  throw new GantryError(
    'invalid_arguments',
    `"${refused.slice(0, 100).toWellFormed().replaceAll('\0', '\\0')}" holds ${refused.includes('\0') ? 'a NUL character' : 'half of a character'}, which keys and ids of the store may not have; leave it out.`,
  );
};

const isBindable = (parameter: unknown): boolean =>
  typeof parameter !== 'string' || (!parameter.includes('\0') && parameter.isWellFormed());
