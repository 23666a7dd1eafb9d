import { randomBytes } from 'node:crypto';
import { identityOf, normaliseUrl } from './identity.ts';
import type { ServerEntry } from './server-entry.ts';
import { isValidServerName } from './server-entry.ts';

/** Entries put in order, and what was done to them. */
export interface Reconciled {
  readonly entries: ReadonlyMap<string, ServerEntry & { readonly id: string }>;
  /** Names of doubles that were left out. */
  readonly removed: readonly string[];
  /** Names that were seeded or got a new id: the file does not have them so yet. */
  readonly written: readonly string[];
  readonly warnings: readonly string[];
}

/** A new server id: 12 hex digits. */
export const newServerId = (): string => randomBytes(6).toString('hex');

/**
 * Leaves out doubles, adds the default servers that no entry points at yet, and gives every entry an id. Of several equal
 * entries an operator's own goes before an agent's, then one with the name of a default server, then the alphabetically first.
 */
export const reconcileEntries = (
  entries: ReadonlyMap<string, ServerEntry>,
  defaultServers: Readonly<Record<string, string>>,
  newId: () => string = newServerId,
): Reconciled => {
  const result = new Map<string, ServerEntry & { readonly id: string }>();
  const warnings: string[] = [];
  const written: string[] = [];
  const doubles = findDoubles(entries, defaultServers);
  const ids = new Set<string>();

  const add = (name: string, entry: ServerEntry): void => {
    const isKept = entry.id !== undefined && !ids.has(entry.id);
    const id = isKept ? entry.id : newId();
    if (!isKept) written.push(name);
    ids.add(id);
    result.set(name, { ...entry, id });
  };

  for (const [name, entry] of entries) {
    if (doubles.has(name)) {
      warnings.push(`Server "${name}" is the same server as "${doubles.get(name)}" and was left out.`);
      continue;
    }
    if (!isValidServerName(name))
      warnings.push(
        `Server name "${name}" would not be accepted for a new server (letters, digits, "_", "." and "-", at most 64, no "__"); consider renaming it.`,
      );
    add(name, entry);
  }
  const urls = new Set([...result.values()].map((entry) => entry.url && normaliseUrl(entry.url)));
  for (const [name, url] of Object.entries(defaultServers)) {
    if (urls.has(normaliseUrl(url)) || result.has(name)) continue;
    add(name, { type: 'sse', url });
  }
  return { entries: result, removed: [...doubles.keys()], written, warnings };
};

/** Maps each double to the name that stays in its place. */
const findDoubles = (
  entries: ReadonlyMap<string, ServerEntry>,
  defaultServers: Readonly<Record<string, string>>,
): Map<string, string> => {
  const groups = Map.groupBy(entries, ([, entry]) => identityOf(entry));
  const doubles = new Map<string, string>();
  for (const group of groups.values()) {
    const rank = ([name, entry]: readonly [string, ServerEntry]): number =>
      (entry.origin === 'agent' ? 2 : 0) + (Object.hasOwn(defaultServers, name) ? 0 : 1);
    const [first, ...rest] = group.toSorted((a, b) => rank(a) - rank(b) || (a[0] < b[0] ? -1 : 1));
    for (const [name] of rest) doubles.set(name, (first as readonly [string, ServerEntry])[0]);
  }
  return doubles;
};
