import { randomBytes } from 'node:crypto';
import { link, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { GantryError } from '../kernel/errors.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import { makeFolder } from '../kernel/make-folder.ts';
import type { Keyring } from './keyring.ts';

/**
 * The keyring in `path`, made with one fresh key if there is no such file (mode 0600, folders 0700). Processes that start at
 * once end up with the same key.
 *
 * @throws {GantryError} `config_invalid` when it lies in `dataDir`, is readable by others, is damaged or cannot be read or made.
 */
export const openKeyFile = async (path: string, dataDir: string): Promise<Keyring> => {
  const existing = await readKeyFile(path, dataDir);
  if (existing) return existing;
  await placeFreshKey(path).catch((error: unknown) => {
    throw unusable(path, 'made', error);
  });
  const made = await readKeyFile(path, dataDir);
  if (!made) throw refused(path, 'was removed while it was being made');
  return made;
};

const placeFreshKey = async (path: string): Promise<void> => {
  await makeFolder(dirname(path), 0o700);
  const draft = await writeDraft(path, withFreshKey(new Map()));
  try {
    // Unlike rename, link fails when another process was faster, and nobody ever sees half a file.
    await link(draft, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
};

/**
 * Adds a fresh key that encrypts from now on; the earlier ones still decrypt. Run `secrets.rotate()` of a store opened with the
 * result to be rid of them.
 */
export const rotateKeyFile = async (path: string, dataDir: string): Promise<Keyring> => {
  const { keys } = await openKeyFile(path, dataDir);
  const keyring = withFreshKey(keys);
  await rename(await writeDraft(path, keyring), path);
  return keyring;
};

/** The keyring in `path`; undefined when there is no such file. Throws as {@link openKeyFile} does. */
export const readKeyFile = async (path: string, dataDir: string): Promise<Keyring | undefined> => {
  await refuseInside(path, dataDir);
  let text: string;
  try {
    await using file = await open(path, 'r');
    const { mode } = await file.stat();
    // Windows has no such bits; there the user's profile is what protects the file.
    if (process.platform !== 'win32' && (mode & 0o077) !== 0)
      throw refused(path, `may be read by other users (mode ${(mode & 0o777).toString(8)}); run "chmod 600 ${path}"`);
    text = await file.readFile('utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw unusable(path, 'read', error);
  }
  return parseKeyring(path, text);
};

/** Like {@link readKeyFile}, for those who have another key: a file that is out of their reach is none. */
export const readEarlierKeys = async (path: string, dataDir: string): Promise<Keyring | undefined> => {
  try {
    return await readKeyFile(path, dataDir);
  } catch (error) {
    if (GantryError.is(error) && outOfReach.has(codeOf(error.cause))) return undefined;
    throw error;
  }
};

const outOfReach: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'ENOTDIR']);

const parseKeyring = (path: string, text: string): Keyring => {
  const json = parseJson(text);
  const content = json.ok && isObject(json.value) ? json.value : {};
  const keys = new Map<string, Buffer>();
  for (const [id, key] of Object.entries(isObject(content['keys']) ? content['keys'] : {}))
    keys.set(id, Buffer.from(String(key), 'base64'));
  const currentId = content['currentId'];
  if (typeof currentId !== 'string' || !keys.has(currentId) || [...keys.values()].some((key) => key.length !== 32))
    throw refused(
      path,
      'is not a key file of Gantry; restore it from a backup, or move it away to start without secrets',
    );
  return { currentId, keys };
};

const withFreshKey = (earlier: ReadonlyMap<string, Buffer>): Keyring => {
  const currentId = `file-${randomBytes(4).toString('hex')}`;
  return { currentId, keys: new Map([...earlier, [currentId, randomBytes(32)]]) };
};

/** Writes a complete file beside the final one and gives its path. */
const writeDraft = async (path: string, keyring: Keyring): Promise<string> => {
  const draft = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}`);
  const keys = Object.fromEntries([...keyring.keys].map(([id, key]) => [id, key.toString('base64')]));
  await using file = await open(draft, 'wx', 0o600);
  await file.writeFile(`${JSON.stringify({ version: 1, currentId: keyring.currentId, keys }, null, 2)}\n`);
  // What is encrypted from now on is lost with the key.
  await file.sync();
  return draft;
};

const refuseInside = async (path: string, dataDir: string): Promise<void> => {
  const way = relative(await realpathOfExisting(dataDir), await realpathOfExisting(path));
  const [first] = way.split(sep);
  if (first !== '..' && !isAbsolute(way))
    throw refused(path, `lies in the data folder ${dataDir}, where it would be copied together with what it protects`);
};

/** The real path of the longest part that exists, with the rest appended. */
const realpathOfExisting = async (path: string): Promise<string> => {
  const absolute = resolve(path);
  const missing: string[] = [];
  for (let at = absolute; ; at = dirname(at)) {
    const found = await stat(at).then(
      () => realpath(at),
      () => undefined,
    );
    if (found !== undefined) return join(found, ...missing);
    if (at === dirname(at)) return absolute;
    missing.unshift(basename(at));
  }
};

const unusable = (path: string, what: 'made' | 'read', error: unknown): unknown =>
  GantryError.is(error)
    ? error
    : new GantryError(
        'config_invalid',
        `The encryption key file ${path} cannot be ${what} (${codeOf(error)}); set GANTRY_CRYPTO_SECRET, or XDG_CONFIG_HOME to a folder that you may write.`,
        { details: { file: path }, cause: error },
      );

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | undefined)?.code ?? 'unknown reason';

const refused = (path: string, problem: string): GantryError =>
  new GantryError('config_invalid', `The key file ${path} ${problem}.`, { details: { file: path } });
