import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GantryError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import { isObject, parseJson } from '../kernel/json.ts';
import { makeFolder } from '../kernel/make-folder.ts';

/** The gateway that owns a data folder. */
export interface GatewayOwner {
  /** Address of its HTTP server, without a slash at the end. */
  readonly url: string;
  /** Tells one run of a gateway from the next on the same address; `/healthz` says it too. */
  readonly instance: string;
}

/** Asks an address which gateway answers there; undefined when none does. */
export type AskInstance = (url: string) => Promise<string | undefined>;

const fileOf = (dataDir: string): string => join(dataDir, 'gateway.json');

/**
 * The gateway that owns the data folder and answers now. A file left behind by one that died does not count, so nothing has
 * to be cleaned up by hand.
 */
export const findGateway = async (
  dataDir: string,
  ask: AskInstance = askInstance,
): Promise<GatewayOwner | undefined> => {
  const owner = await readOwner(dataDir);
  return owner && (await ask(owner.url)) === owner.instance ? owner : undefined;
};

/** Ownership of a data folder; disposing gives it up. */
export interface GatewayLock extends AsyncDisposable {
  readonly instance: string;
  /** Says where the gateway listens. */
  announce(url: string): Promise<void>;
}

/**
 * Takes the data folder for this gateway.
 * @throws {GantryError} `data_dir_locked` with the owner's address when another gateway answers for it.
 */
export const lockDataDir = async (dataDir: string, ask: AskInstance = askInstance): Promise<GatewayLock> => {
  const instance = newId();
  const owner = await findGateway(dataDir, ask);
  if (owner)
    throw new GantryError(
      'data_dir_locked',
      `The gateway at ${owner.url} already owns the data folder ${dataDir}; use that one, stop it, or choose another folder with --data.`,
      { details: { path: dataDir, owner: owner.url } },
    );
  const file = fileOf(dataDir);
  return {
    instance,
    announce: (url) => writeFile(file, JSON.stringify({ url, instance } satisfies GatewayOwner), { mode: 0o600 }),
    [Symbol.asyncDispose]: async () => {
      const current = await readOwner(dataDir);
      if (current?.instance === instance) await rm(file, { force: true });
    },
  };
};

/**
 * Makes the data folder.
 * @throws {GantryError} `data_dir_unwritable` when it cannot be made or written.
 */
export const prepareDataDir = async (dataDir: string): Promise<void> => {
  const probe = join(dataDir, `.write-test-${newId()}`);
  try {
    await makeFolder(dataDir, 0o700);
    await writeFile(probe, '');
    await rm(probe);
  } catch (error) {
    throw new GantryError(
      'data_dir_unwritable',
      `The data folder ${dataDir} cannot be written (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'}); make it writable or choose another one with --data.`,
      { cause: error, details: { path: dataDir } },
    );
  }
};

const readOwner = async (dataDir: string): Promise<GatewayOwner | undefined> => {
  const text = await readFile(fileOf(dataDir), 'utf8').catch((error: NodeJS.ErrnoException) => {
    // Where the folder cannot be, nobody owns it; making it will say what is wrong.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return '';
    throw error;
  });
  const parsed = parseJson(text);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { url, instance } = parsed.value;
  return typeof url === 'string' && typeof instance === 'string' ? { url, instance } : undefined;
};

const askInstance: AskInstance = async (url) => {
  try {
    const response = await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(2000) });
    const body: unknown = await response.json();
    return isObject(body) && typeof body['instance'] === 'string' ? body['instance'] : undefined;
  } catch (error) {
    // Nobody answers, or something that is no gateway does: either way the file is stale.
    if (error instanceof Error) return undefined;
    throw error;
  }
};
