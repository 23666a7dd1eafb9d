import { GantryError } from '../../../kernel/errors.ts';
import { nearest } from '../../../kernel/nearest.ts';
import type { EntryEdit } from '../config/config-file.ts';
import { identityOf } from '../config/identity.ts';
import type { McpFile } from '../config/mcp-file.ts';
import { newServerId } from '../config/reconcile.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import { isValidServerName, serverEntrySchema } from '../config/server-entry.ts';
import { namedIn } from './agent-edits.ts';

/**
 * A new entry of the operator's.
 * @throws {GantryError} `invalid_arguments` when the name or the server is there already, or the entry is wrong.
 */
export const addition = (file: McpFile, name: string, given: ServerEntry): readonly EntryEdit[] => {
  if (!isValidServerName(name))
    throw wrong(
      `"${name.slice(0, 100)}" cannot be the name of a server: use letters, digits, "_", "." and "-", at most 64, beginning with a letter or digit, without "__".`,
    );
  const taken = namedIn(file, name);
  if (taken !== undefined)
    throw wrong(`There is a server "${taken}" already; remove it first with "gantry servers remove ${taken}".`);
  const checked = serverEntrySchema.safeParse(given);
  if (!checked.success)
    throw wrong(
      checked.error.issues.map((issue) => `${issue.path.map(String).join('.')}: ${issue.message}.`).join(' '),
    );
  for (const [other, known] of file.entries)
    if (identityOf(known) === identityOf(given)) throw wrong(`Server "${other}" is this server already.`);
  return [{ name, entry: { id: newServerId(), ...given } }];
};

/**
 * The removal of an entry, whoever it is of.
 * @throws {GantryError} `server_unknown`
 */
export const removal = (file: McpFile, name: string): readonly EntryEdit[] => [
  { name: existing(file, name), entry: undefined },
];

/**
 * Switches an entry on or off; the rest of it stays as it is.
 * @throws {GantryError} `server_unknown`
 */
export const switching = (file: McpFile, name: string, isEnabled: boolean): readonly EntryEdit[] => {
  const found = existing(file, name);
  const isNow = file.entries.get(found)?.disabled !== true;
  return isNow === isEnabled ? [] : [{ name: found, field: 'disabled', value: isEnabled ? undefined : true }];
};

const existing = (file: McpFile, name: string): string => {
  const found = namedIn(file, name);
  if (found !== undefined) return found;
  const known = [...file.entries.keys()];
  const [near] = nearest(name, known);
  const hint = near !== undefined ? `did you mean "${near}"?` : `known: ${known.join(', ') || 'none'}.`;
  throw new GantryError('server_unknown', `There is no server named "${name.slice(0, 100)}"; ${hint}`, {
    details: { name, known },
  });
};

const wrong = (message: string): GantryError => new GantryError('invalid_arguments', message);
