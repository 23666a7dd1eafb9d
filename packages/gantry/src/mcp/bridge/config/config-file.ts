import { watch } from 'node:fs';
import { copyFile, readFile, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { applyEdits, modify } from 'jsonc-parser';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import type { McpFile } from './mcp-file.ts';
import { parseMcpFile } from './mcp-file.ts';
import type { Reconciled } from './reconcile.ts';
import { reconcileEntries } from './reconcile.ts';
import type { ServerEntry } from './server-entry.ts';

/** One load of `mcp.json`. */
export interface LoadedConfig extends Reconciled, Pick<McpFile, 'refused'> {
  /** True when the entries come from the backup because the file itself is broken. */
  readonly fromBackup: boolean;
}

/** The file of servers: read, watched, and changed without losing comments or unknown fields. */
export interface McpConfigFile extends AsyncDisposable {
  readonly path: string;
  /**
   * Reads the file. A missing file is an empty one. At the first load a broken file gives way to its backup.
   * @throws {GantryError} `config_invalid` when the file is broken and there is no usable backup.
   */
  load(): Promise<LoadedConfig>;
  /** Calls `onEdit` after somebody else's edit, noticed by watching and by polling, at most once in 500 ms. */
  watchEdits(onEdit: () => void): void;
  /**
   * Changes the file: `decide` is given what stands in it at that moment and says what to write, or throws, and then the file is not
   * touched. The old text is kept as `.bak`. Edits are made one after another.
   * @throws {GantryError} `config_invalid` when the file is broken, or what `decide` threw.
   */
  edit(decide: (file: McpFile) => readonly EntryEdit[]): Promise<void>;
}

/** One change of an entry. `undefined` removes. */
export type EntryEdit =
  | { readonly name: string; readonly entry: ServerEntry | undefined }
  /** Changes one field and leaves the others, and the comments, as they are. */
  | { readonly name: string; readonly field: keyof ServerEntry; readonly value: unknown };

/** How the file is handled. */
export interface McpConfigFileOptions {
  readonly path: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Name to URL; seeded unless an entry points there already. Default none. */
  readonly defaultServers?: Readonly<Record<string, string>> | undefined;
  /** Default 5; 0 switches polling off. */
  readonly pollIntervalSeconds?: number | undefined;
}

const debounceMs = 500;

/** Opens the file of servers. */
export const createMcpConfigFile = (options: McpConfigFileOptions): McpConfigFile => {
  const { path, clock, log, defaultServers = {}, pollIntervalSeconds = 5 } = options;
  const backup = `${path}.bak`;
  const file = basename(path);
  let seenStamp = 'never';
  let loadedOnce = false;
  let pending: Timer | undefined;
  let polling: Timer | undefined;
  let watcher: ReturnType<typeof watch> | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;

  const stampOf = async (): Promise<string> => {
    const found = await stat(path).catch(missing);
    return found ? `${found.mtimeMs}:${found.size}:${found.ino}` : 'missing';
  };

  const readText = async (from: string): Promise<string> => (await readFile(from, 'utf8').catch(missing)) ?? '';

  const readEntries = async (): Promise<{ parsed: McpFile; fromBackup: boolean }> => {
    try {
      return { parsed: parseMcpFile(await readText(path), file), fromBackup: false };
    } catch (error) {
      // While servers run, a broken edit must change nothing; only a start has nothing better than the backup.
      if (loadedOnce) throw error;
      const parsed = await readBackup();
      if (!parsed) throw error;
      log.error({ file: path, reason: messageOf(error) }, 'the file of servers is broken; its backup is used');
      return { parsed, fromBackup: true };
    }
  };

  const readBackup = async (): Promise<McpFile | undefined> => {
    try {
      const parsed = parseMcpFile(await readText(backup), basename(backup));
      return parsed.entries.size > 0 ? parsed : undefined;
    } catch (error) {
      log.warn({ file: backup, reason: messageOf(error) }, 'the backup of the file of servers cannot be read either');
      return undefined;
    }
  };

  const persist = async (decide: (file: McpFile) => readonly EntryEdit[]): Promise<void> => {
    const before = await readText(path);
    const edits = decide(parseMcpFile(before, file));
    if (edits.length === 0) return;
    let text = before.trim() === '' ? '{\n  "mcpServers": {}\n}\n' : before;
    for (const edit of edits) {
      const isWhole = 'entry' in edit;
      const at = isWhole ? ['mcpServers', edit.name] : ['mcpServers', edit.name, edit.field];
      const value = isWhole ? edit.entry : edit.value;
      text = applyEdits(text, modify(text, at, value, { formattingOptions: { insertSpaces: true, tabSize: 2 } }));
    }
    if (before !== '') await copyFile(path, backup);
    await replaceFile(path, text);
    seenStamp = await stampOf();
  };

  const serially = (work: () => Promise<void>): Promise<void> => {
    const mine = writing.then(work);
    writing = mine.catch(() => undefined);
    return mine;
  };

  return {
    path,
    load: async () => {
      seenStamp = await stampOf();
      const { parsed, fromBackup } = await readEntries();
      loadedOnce = true;
      // An entry that cannot be read keeps its name: a default server must not be written over it.
      const seeds = Object.entries(defaultServers).filter(([name]) => !parsed.refused.has(name));
      const reconciled = reconcileEntries(parsed.entries, Object.fromEntries(seeds));
      for (const warning of reconciled.warnings) log.warn({ file: path }, warning);
      const { entries, removed, written } = reconciled;
      if (removed.length + written.length > 0 && !fromBackup)
        await serially(() => persist((now) => toEdits(now, entries, removed, written))).catch((error: unknown) =>
          log.warn({ file: path, reason: messageOf(error) }, 'ids of servers could not be written to the file'),
        );
      return { ...reconciled, refused: parsed.refused, fromBackup };
    },
    watchEdits: (onEdit) => {
      const check = async (): Promise<void> => {
        pending = undefined;
        // A write of our own that is under way is no edit.
        await writing;
        const stamp = await stampOf();
        if (stamp === seenStamp || isClosed) return;
        seenStamp = stamp;
        onEdit();
      };
      const report = (error: unknown): void =>
        log.warn({ file: path, reason: messageOf(error) }, 'the file of servers cannot be looked at');
      const trigger = (): void => {
        if (!isClosed) pending ??= clock.startTimer(debounceMs, () => void check().catch(report));
      };
      try {
        // The folder is watched, because editors replace files by renaming over them.
        watcher = watch(dirname(path), { persistent: false }, (_event, name) => {
          if (name === file) trigger();
        });
        watcher.on('error', (error) =>
          log.warn({ file: path, reason: messageOf(error) }, 'watching the file of servers failed; polling goes on'),
        );
      } catch (error) {
        log.warn({ file: path, reason: messageOf(error) }, 'the file of servers cannot be watched; it is polled');
      }
      const poll = (): void => {
        polling = clock.startTimer(pollIntervalSeconds * 1000, () => {
          void stampOf()
            .then((stamp) => {
              if (stamp !== seenStamp) trigger();
            }, report)
            .then(() => {
              if (!isClosed) poll();
            });
        });
      };
      if (pollIntervalSeconds > 0) poll();
    },
    edit: (decide) => serially(() => persist(decide)),
    [Symbol.asyncDispose]: async () => {
      isClosed = true;
      pending?.stop();
      polling?.stop();
      watcher?.close();
      await writing;
    },
  };
};

/** What makes the file hold what was worked out from it, and nothing that somebody changed since. */
const toEdits = (
  now: McpFile,
  entries: Reconciled['entries'],
  removed: readonly string[],
  written: readonly string[],
): EntryEdit[] => [
  ...removed.map((name) => ({ name, entry: undefined })),
  ...written.map((name): EntryEdit => {
    const entry = entries.get(name);
    return now.entries.has(name) ? { name, field: 'id', value: entry?.id } : { name, entry };
  }),
];

/** Puts a new text in the file's place at once. A link stays a link, and who may read the file stays as it was: it may hold secrets. */
const replaceFile = async (path: string, text: string): Promise<void> => {
  const target = (await realpath(path).catch(missing)) ?? path;
  const mode = (await stat(target).catch(missing))?.mode ?? 0o600;
  const temporary = `${target}.tmp`;
  await rm(temporary, { force: true });
  await writeFile(temporary, text, { mode: mode & 0o777 });
  await rename(temporary, target);
};

const missing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};
