import { readFileSync, renameSync, watch } from 'node:fs';
import type { Stats } from 'node:fs';
import { copyFile, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { applyEdits, modify } from 'jsonc-parser';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
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
   * Reads the file. A missing file holds no servers, and so does one without any text when nothing else is known of its servers; otherwise
   * that one is broken. At the first load a broken file gives way to its backup.
   * @throws {GantryError} `config_invalid` when the file is broken and there is no usable backup.
   */
  load(): Promise<LoadedConfig>;
  /** Calls `onEdit` after somebody else's edit, noticed by watching and by polling, at most once in 500 ms. */
  watchEdits(onEdit: () => void): void;
  /**
   * Changes the file: `decide` is given what stands in it at that moment and says what to write, or throws, and then the file is not
   * touched. It is asked again when somebody else changes the file before it is written. The old text is kept as `.bak`. Edits are made
   * one after another.
   * @throws {GantryError} `config_invalid` when the file is broken, `revision_conflict` when others change it all the time, or what
   * `decide` threw.
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
const maxTries = 10;

/** Opens the file of servers. */
export const createMcpConfigFile = (options: McpConfigFileOptions): McpConfigFile => {
  const { path, clock, log, defaultServers = {}, pollIntervalSeconds = 5 } = options;
  const backup = `${path}.bak`;
  const file = basename(path);
  let seenStamp = 'never';
  // The text that was loaded last; undefined while the file is missing.
  let loadedText: string | undefined;
  let loadedOnce = false;
  // A file without text takes no servers away: none were known when it was loaded.
  let mayBeBlank = false;
  let pending: Timer | undefined;
  let polling: Timer | undefined;
  let watcher: ReturnType<typeof watch> | undefined;
  let writing: Promise<void> = Promise.resolve();
  let isClosed = false;

  const stampOf = async (): Promise<string> => {
    const found = await stat(path).catch(missing);
    return found ? toStamp(found) : 'missing';
  };

  const readText = (from: string): Promise<string | undefined> => readFile(from, 'utf8').catch(missing);

  const parseText = (text: string | undefined): McpFile => {
    if (text === undefined) return noServers;
    if (text.trim() === '' && !mayBeBlank) throw blank(file);
    return parseMcpFile(text, file);
  };

  const readEntries = async (text: string | undefined): Promise<{ parsed: McpFile; fromBackup: boolean }> => {
    if (!loadedOnce && text?.trim() === '') mayBeBlank = !(await readText(backup))?.trim();
    try {
      return { parsed: parseText(text), fromBackup: false };
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
      const parsed = parseMcpFile((await readText(backup)) ?? '', basename(backup));
      return parsed.entries.size > 0 ? parsed : undefined;
    } catch (error) {
      log.warn({ file: backup, reason: messageOf(error) }, 'the backup of the file of servers cannot be read either');
      return undefined;
    }
  };

  const persist = async (decide: (file: McpFile) => readonly EntryEdit[]): Promise<void> => {
    for (let tries = 1; tries <= maxTries; tries += 1) {
      const before = await readText(path);
      const edits = decide(parseText(before));
      if (edits.length === 0) return;
      const text = edits.reduce(withEdit, before?.trim() ? before : '{\n  "mcpServers": {}\n}\n');
      const stamp = await replaceFile(path, { before, text, backup });
      if (stamp === undefined) continue;
      // An edit that was read here first has yet to be loaded, and must still be noticed.
      if (before === loadedText) {
        loadedText = text;
        seenStamp = stamp;
      }
      return;
    }
    throw new GantryError(
      'revision_conflict',
      `${file} is changed by somebody else all the time, so it was not written; try again when it is at rest.`,
      { details: { id: path } },
    );
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
      const text = await readText(path);
      const { parsed, fromBackup } = await readEntries(text);
      loadedOnce = true;
      loadedText = text;
      if (!fromBackup) mayBeBlank = parsed.entries.size + parsed.refused.size === 0;
      // An entry that cannot be read keeps its name: a default server must not be written over it.
      const seeds = Object.entries(defaultServers).filter(([name]) => !parsed.refused.has(name));
      const reconciled = reconcileEntries(parsed.entries, Object.fromEntries(seeds));
      for (const warning of reconciled.warnings) log.warn({ file: path }, warning);
      const { removed, written } = reconciled;
      if (removed.length + written.length > 0 && !fromBackup)
        await serially(() => persist((now) => toEdits(now, parsed, reconciled))).catch((error: unknown) =>
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

/** What makes the file hold what was worked out from it; entries that somebody changed since are left for the next load. */
const toEdits = (now: McpFile, loaded: McpFile, { entries, removed, written }: Reconciled): EntryEdit[] => {
  const isAsLoaded = (name: string): boolean =>
    isDeepStrictEqual(now.entries.get(name), loaded.entries.get(name)) &&
    now.refused.has(name) === loaded.refused.has(name);
  return [
    ...removed.filter(isAsLoaded).map((name) => ({ name, entry: undefined })),
    ...written.filter(isAsLoaded).map((name): EntryEdit => {
      const entry = entries.get(name);
      return now.entries.has(name) ? { name, field: 'id', value: entry?.id } : { name, entry };
    }),
  ];
};

const withEdit = (text: string, edit: EntryEdit): string => {
  const isWhole = 'entry' in edit;
  const at = isWhole ? ['mcpServers', edit.name] : ['mcpServers', edit.name, edit.field];
  const value = isWhole ? edit.entry : edit.value;
  return applyEdits(text, modify(text, at, value, { formattingOptions: { insertSpaces: true, tabSize: 2 } }));
};

/**
 * Puts a new text in the file's place at once and gives its stamp; undefined when the file does not hold `before` any more, and then it
 * is left alone. A link stays a link, and who may read the file stays as it was: it may hold secrets.
 */
const replaceFile = async (
  path: string,
  { before, text, backup }: { before: string | undefined; text: string; backup: string },
): Promise<string | undefined> => {
  const target = (await realpath(path).catch(missing)) ?? path;
  const mode = (await stat(target).catch(missing))?.mode ?? 0o600;
  const temporary = `${target}.tmp`;
  await rm(temporary, { force: true });
  await writeFile(temporary, text, { mode: mode & 0o777 });
  const stamp = toStamp(await stat(temporary));
  if (readTextSync(target) === before) {
    if (before?.trim()) await copyFile(target, backup);
    // Looked at and replaced without a pause, so that no edit falls in between.
    if (readTextSync(target) === before) {
      renameSync(temporary, target);
      return stamp;
    }
  }
  await rm(temporary, { force: true });
  return undefined;
};

const readTextSync = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    return missing(error as NodeJS.ErrnoException);
  }
};

/** Differs after every write, and stays with a file that is renamed. */
const toStamp = ({ mtimeMs, size, ino }: Stats): string => `${mtimeMs}:${size}:${ino}`;

const noServers: McpFile = { entries: new Map(), refused: new Map() };

const blank = (file: string): GantryError =>
  new GantryError(
    'config_invalid',
    `${file}: not valid JSON (the file is empty); write {"mcpServers": {}} when no servers are wanted.`,
    { details: { file } },
  );

const missing = (error: NodeJS.ErrnoException): undefined => {
  if (error.code === 'ENOENT') return undefined;
  throw error;
};
