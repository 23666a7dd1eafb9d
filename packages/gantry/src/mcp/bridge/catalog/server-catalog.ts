import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Documents } from '../../../store/documents.ts';
import type { SurfaceLists } from '../surface/surface.ts';

/** What a server offered when it was last connected. */
export interface SavedSurface {
  /** Of the entry it was read under; under another one it says nothing. */
  readonly identityHash: string;
  readonly fingerprint: string | null;
  readonly lists: SurfaceLists;
}

/** What all servers offered last, by their ids, so that their tools are there before they are connected. Disposing waits for writes. */
export interface ServerCatalog extends AsyncDisposable {
  load(): Promise<ReadonlyMap<string, SavedSurface>>;
  /** Keeps a surface unless it is the one that is kept. Returns at once; a failed write is logged. */
  save(id: string, surface: SavedSurface): void;
  /** Drops what is kept of a server. */
  forget(id: string): void;
}

/** Keeps the catalog in a collection of documents. */
export const createServerCatalog = (documents: Documents<SavedSurface>, log: Log): ServerCatalog => {
  const kept = new Map<string, string>();
  let writing: Promise<void> = Promise.resolve();

  const write = (id: string, work: () => Promise<unknown>): void => {
    writing = writing.then(work).then(
      () => undefined,
      (error: unknown) => {
        kept.delete(id);
        log.warn(
          { serverId: id, reason: messageOf(error) },
          'what a server offers could not be kept for the next start',
        );
      },
    );
  };

  return {
    load: async () => {
      await writing;
      const surfaces = new Map((await documents.list()).map(({ id, value }) => [id, value]));
      for (const [id, surface] of surfaces) kept.set(id, keyOf(surface));
      return surfaces;
    },
    save: (id, surface) => {
      const key = keyOf(surface);
      if (surface.fingerprint !== null && kept.get(id) === key) return;
      kept.set(id, key);
      write(id, () => documents.put(id, surface));
    },
    forget: (id) => {
      kept.delete(id);
      write(id, () => documents.delete(id));
    },
    [Symbol.asyncDispose]: () => writing,
  };
};

const keyOf = ({ identityHash, fingerprint, lists }: SavedSurface): string =>
  `${identityHash}:${fingerprint}:${lists.identity.version ?? ''}:${lists.listed.length}`;
