/** What an id stands for: `media_N` a file, `ref_N` a message or whatever else has an id of its own. */
export type OpaqueKind = 'media' | 'ref';

/**
 * Short ids that a model is given in place of long or unreadable ones (paths, ids of messages), for one turn: what another turn issued is
 * unknown here.
 */
export interface OpaqueIds {
  /** The id of this turn for a value; the same again for the same one. */
  issue(kind: OpaqueKind, value: string): string;
  /** The value behind an id, or undefined when this turn did not issue it. */
  resolve(id: string): string | undefined;
}

const form = /^(?:media|ref)_[1-9]\d{0,8}$/;
const anywhere = /\b(?:media|ref)_[1-9]\d{0,8}\b/g;
/** Also behind an escaped line break, whose last character is a letter: one too many is only left out. */
const written = /(?:media|ref)_[1-9]\d{0,8}(?!\d)/g;

/** Whether a value has the form of such an id. */
export const isOpaqueId = (value: unknown): value is string => typeof value === 'string' && form.test(value);

/** The path that an argument of a tool names: by an id of the turn's files, or itself. What other ids stand for is no path, and is not told. */
export const toNamedFile = (given: string, ids: Pick<OpaqueIds, 'resolve'> | undefined): string =>
  (given.startsWith('media') ? ids?.resolve(given) : undefined) ?? given;

/**
 * A text for somebody who did not read the turn's list of files, with the paths of those that it names by their ids behind it. What other
 * ids stand for is for tools only.
 */
export const withNamedFiles = (text: string, ids: Pick<OpaqueIds, 'resolve'> | undefined): string => {
  const named = new Set([...text.matchAll(anywhere)].map(([id]) => id).filter((id) => id.startsWith('media')));
  const lines = [...named].flatMap((id) => {
    const path = ids?.resolve(id);
    return path === undefined ? [] : [`- ${id}: \`${path}\``];
  });
  return lines.length === 0 ? text : `${text}\n\nFiles that are named by their ids:\n${lines.join('\n')}`;
};

/**
 * Makes the ids of one turn.
 *
 * @param options `seen` is what the model can read of earlier turns, as text or JSON: ids that stand there are not issued again, so that one
 * of another turn, which a model repeats, never means something else. Others wrote of it too, so no number in it leads to the next.
 */
export const createOpaqueIds = (options: { readonly seen?: string | undefined } = {}): OpaqueIds => {
  const values = new Map<string, string>();
  const ids = new Map<string, string>();
  const last: Record<OpaqueKind, number> = { media: 0, ref: 0 };
  const seen = new Set(options.seen?.match(written));
  const next = (kind: OpaqueKind): string => {
    let id: string;
    do id = `${kind}_${(last[kind] += 1)}`;
    while (seen.has(id));
    return id;
  };
  return {
    issue: (kind, value) => {
      const key = `${kind} ${value}`;
      const known = ids.get(key);
      if (known !== undefined) return known;
      const id = next(kind);
      ids.set(key, id);
      values.set(id, value);
      return id;
    },
    resolve: (id) => values.get(id),
  };
};
