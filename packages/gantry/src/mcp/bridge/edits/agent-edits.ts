import { GantryError } from '../../../kernel/errors.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { RegisterServer } from '../../wire/manage-messages.ts';
import { unknownServerText } from '../../wire/unknown-server.ts';
import type { EntryEdit } from '../config/config-file.ts';
import { identityOf } from '../config/identity.ts';
import type { McpFile } from '../config/mcp-file.ts';
import { newServerId } from '../config/reconcile.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import { isValidServerName } from '../config/server-entry.ts';

// Each is connected by every process, and whoever registers them is no operator.
const mostOwn = 50;

/**
 * What a model may write into the file: a new entry of its own, and never anything of the operator's.
 * @throws {GantryError} `invalid_arguments` with what is wrong and what to do.
 */
export const registration = (file: McpFile, { name, type, url }: RegisterServer): readonly EntryEdit[] => {
  if (!isValidServerName(name))
    throw refused(
      `"${shown(name)}" cannot be the name of a server: use letters, digits, "_", "." and "-", at most 64, beginning with a letter or digit, without "__".`,
    );
  const own = [...file.entries.values()].filter(({ origin }) => origin === 'agent').length;
  if (own >= mostOwn)
    throw refused(
      `${own} servers are registered that were added with this tool, which is the most. Unregister one that is not needed any more, or ask the operator to add this one.`,
    );
  const taken = namedIn(file, name);
  if (taken !== undefined) {
    throw refused(
      file.entries.get(taken)?.origin === 'agent'
        ? `A server "${taken}" is registered already; unregister it first, or choose another name.`
        : `A server "${taken}" is managed by the operator and cannot be changed; choose another name.`,
    );
  }
  const entry: ServerEntry = { id: newServerId(), origin: 'agent', type, url };
  for (const [other, known] of file.entries)
    if (identityOf(known) === identityOf(entry))
      throw refused(`The server at this URL is registered already as "${other}"; use that one.`);
  return [{ name, entry }];
};

/**
 * The removal of an entry that a model registered and the operator has not touched.
 * @throws {GantryError} `invalid_arguments`
 */
export const unregistration = (file: McpFile, serverName: string): readonly EntryEdit[] => {
  const name = namedIn(file, serverName);
  if (name === undefined) throw refused(unknownServerText(serverName));
  const entry = file.entries.get(name);
  if (entry?.origin !== 'agent')
    throw refused(`Server "${name}" is managed by the operator and cannot be unregistered.`);
  const policy = policyFields.filter((field) => isSet(field, entry));
  if (policy.length > 0)
    throw refused(
      `The operator has set ${policy.map((field) => `"${field}"`).join(', ')} for server "${name}"; only the operator can remove it now.`,
    );
  return [{ name, entry: undefined }];
};

const policyFields = [
  'allowedTools',
  'deniedTools',
  'headers',
  'auth',
  'oauth',
  'argGuards',
  'elicitation',
  'attachments',
  'toolTimeoutMs',
  'tasks',
  'taskTimeoutMinutes',
  'disabled',
  'transportMode',
] as const satisfies readonly (keyof ServerEntry)[];

const isSet = (field: (typeof policyFields)[number], entry: ServerEntry): boolean =>
  field === 'transportMode' ? (entry.transportMode?.toLowerCase() ?? 'auto') !== 'auto' : entry[field] !== undefined;

/** The name under which an entry stands in the file, in whatever case it was asked for. */
export const namedIn = ({ entries, refused: broken }: McpFile, name: string): string | undefined =>
  [...entries.keys(), ...broken.keys()].find((known) => known.toLowerCase() === name.toLowerCase());

const refused = (message: string): GantryError => new GantryError('invalid_arguments', message);

const shown = (text: string): string => flattenText(text, { maxChars: 100 });
