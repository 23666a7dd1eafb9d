import { isDeepStrictEqual } from 'node:util';
import { identityOf } from './identity.ts';
import type { ServerEntry } from './server-entry.ts';

/** Entries that are the same server as another one. Each map leads from a name to the name of the entry that stays in its place. */
export interface Doubles {
  /** Nothing is lost with them: what a model registered, and what says the same as the other entry. */
  readonly removed: ReadonlyMap<string, string>;
  /** They say something that the other entry does not, so they stay in the file, and are not connected. Each with the reason. */
  readonly refused: ReadonlyMap<string, string>;
}

/**
 * Finds doubles. Of several entries of one server, an operator's own goes before an agent's that the operator has added to, and that
 * before one just as a model registered it; then one with the name of a default server; then the alphabetically first. A disabled entry
 * is not connected, so it is no double; only what a model registered gives way to it.
 */
export const findDoubles = (
  entries: ReadonlyMap<string, ServerEntry>,
  defaultServers: Readonly<Record<string, string>>,
): Doubles => {
  const removed = new Map<string, string>();
  const refused = new Map<string, string>();
  const rank = ([name, entry]: Named): number =>
    (entry.origin !== 'agent' ? 0 : isAsRegistered(entry) ? 4 : 2) + (Object.hasOwn(defaultServers, name) ? 0 : 1);
  for (const group of Map.groupBy(entries, ([, entry]) => identityOf(entry)).values()) {
    const inOrder = group.toSorted((a, b) => rank(a) - rank(b) || (a[0] < b[0] ? -1 : 1));
    const [best] = inOrder;
    const kept = inOrder.find(([, entry]) => !entry.disabled);
    if (!best || !kept) continue;
    for (const [name, entry] of inOrder) {
      if (name !== best[0] && isAsRegistered(entry)) removed.set(name, best[0]);
      else if (name !== kept[0] && !entry.disabled) {
        const fields = differencesOf(entry, kept[1]);
        if (fields.length === 0) removed.set(name, kept[0]);
        else refused.set(name, reasonOf(kept[0], fields));
      }
    }
  }
  return { removed, refused };
};

type Named = readonly [string, ServerEntry];

const reasonOf = (kept: string, fields: readonly string[]): string =>
  `It is the same server as "${kept}", which goes before it, with other ${fields.map((field) => `"${field}"`).join(', ')}; what this entry says has no effect. Put it into "${kept}" and remove this entry, or remove or disable "${kept}".`;

/** True when the operator has not added anything to what a model registered. */
const isAsRegistered = (entry: ServerEntry): boolean =>
  entry.origin === 'agent' && Object.keys(entry).every((field) => registeredFields.has(field));

const registeredFields: ReadonlySet<string> = new Set(['id', 'origin', 'type', 'url']);

/** Fields that differ between two entries of one server, also those that Gantry does not know. */
const differencesOf = (one: ServerEntry, other: ServerEntry): string[] => {
  const [a, b] = [new Map(Object.entries(one)), new Map(Object.entries(other))];
  return [...new Set([...a.keys(), ...b.keys()])].filter(
    (field) => !comparedFields.has(field) && !isDeepStrictEqual(a.get(field), b.get(field)),
  );
};

/** The identity has compared these, or they say nothing about a connected server. */
const comparedFields: ReadonlySet<string> = new Set([
  'id',
  'origin',
  'disabled',
  'type',
  'url',
  'transportMode',
  'command',
  'args',
  'env',
  'cwd',
  'headers',
  'allowedTools',
  'deniedTools',
] satisfies readonly (keyof ServerEntry)[]);
