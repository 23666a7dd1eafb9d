import { createHash, randomBytes } from 'node:crypto';
import { findDoubles } from './doubles.ts';
import { identityOf, normaliseUrl } from './identity.ts';
import type { ServerEntry } from './server-entry.ts';
import { isValidServerName } from './server-entry.ts';

/** Entries put in order, and what was done to them. */
export interface Reconciled {
  readonly entries: ReadonlyMap<string, ServerEntry & { readonly id: string }>;
  /** Names of doubles that were left out, with which nothing is lost. */
  readonly removed: readonly string[];
  /** Why an entry must not be connected though it can be read: it is another entry's server, and says something else about it. */
  readonly doubles: ReadonlyMap<string, string>;
  /** Names that were seeded or got a new id: the file does not have them so yet. */
  readonly written: readonly string[];
  readonly warnings: readonly string[];
}

/** A new server id: 12 hex digits. */
export const newServerId = (): string => randomBytes(6).toString('hex');

/** The id of an entry that a person wrote without one: the same wherever the same file is read, so that several gateways mean the same server. */
const ownServerId = (name: string, entry: ServerEntry): string =>
  createHash('sha256')
    .update(`${name}\n${identityOf(entry)}`)
    .digest('hex')
    .slice(0, 12);

/**
 * Leaves out doubles that nothing is lost with, adds the default servers that no entry points at yet, and gives every entry an id: see
 * {@link findDoubles}. Doubles that stay come after the entries that are connected.
 */
export const reconcileEntries = (
  entries: ReadonlyMap<string, ServerEntry>,
  defaultServers: Readonly<Record<string, string>>,
  newId: (name: string, entry: ServerEntry) => string = ownServerId,
): Reconciled => {
  const result = new Map<string, ServerEntry & { readonly id: string }>();
  const warnings: string[] = [];
  const written: string[] = [];
  const doubles = findDoubles(entries, defaultServers);
  const ids = new Set<string>();

  const unusedId = (name: string, entry: ServerEntry): string => {
    const id = newId(name, entry);
    return ids.has(id) ? newServerId() : id;
  };
  const add = (name: string, entry: ServerEntry): void => {
    const isKept = entry.id !== undefined && !ids.has(entry.id);
    const id = isKept ? entry.id : unusedId(name, entry);
    if (!isKept) written.push(name);
    ids.add(id);
    result.set(name, { ...entry, id });
  };

  for (const [name, other] of doubles.removed)
    warnings.push(
      `Server "${name}" is the same server as "${other}" and says nothing else; it is removed from the file.`,
    );
  for (const name of entries.keys())
    if (!isValidServerName(name))
      warnings.push(
        `Server name "${name}" would not be accepted for a new server (letters, digits, "_", "." and "-", at most 64, no "__"); consider renaming it.`,
      );
  // An id that was copied along with an entry stays with the one that is connected.
  for (const [name, entry] of entries) if (!doubles.removed.has(name) && !doubles.refused.has(name)) add(name, entry);
  for (const [name, entry] of entries) if (doubles.refused.has(name)) add(name, entry);
  const urls = new Set([...result.values()].map((entry) => entry.url && normaliseUrl(entry.url)));
  for (const [name, url] of Object.entries(defaultServers)) {
    if (urls.has(normaliseUrl(url)) || result.has(name)) continue;
    add(name, { type: 'sse', url });
  }
  return { entries: result, removed: [...doubles.removed.keys()], doubles: doubles.refused, written, warnings };
};
