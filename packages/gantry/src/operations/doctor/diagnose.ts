import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { folderProblem } from '../../kernel/make-folder.ts';
import { parseMcpFile } from '../../mcp/bridge/config/mcp-file.ts';
import { parseCryptoSecrets } from '../../store/crypto-secrets.ts';
import { readEarlierKeys, readKeyFile } from '../../store/key-file.ts';
import type { DoctorCheck } from './doctor-report.ts';

/** Where an installation keeps its things. */
export interface DoctorFacts {
  /** As `process.versions.node` says it. */
  readonly nodeVersion: string;
  readonly dataDir: string;
  readonly sharedDir: string;
  readonly keyFile: string;
  /** May hold the encryption secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly mcpFile: string;
  readonly listen: {
    readonly host: string;
    readonly port: number;
    /** Address of the gateway that owns the data folder, when one runs. */
    readonly owner?: string | undefined;
  };
}

/** Looks at everything an installation needs before servers come in: runtime, folders, key, port and the file of servers. */
export const diagnose = async (facts: DoctorFacts): Promise<readonly DoctorCheck[]> => [
  checkRuntime(facts.nodeVersion),
  ...(await Promise.all([
    checkFolder('data folder', facts.dataDir, 'choose another one with --data'),
    checkFolder('shared folder', facts.sharedDir, 'choose another one with "sharedDir" in the configuration'),
    checkKey(facts),
    checkPort(facts.listen),
    checkMcpFile(facts.mcpFile),
  ])),
];

const leastNodeMajor = 24;

const checkRuntime = (version: string): DoctorCheck =>
  Number(version.split('.', 1)[0]) >= leastNodeMajor
    ? { name: 'runtime', state: 'ok', message: `Node.js ${version}` }
    : {
        name: 'runtime',
        state: 'broken',
        message: `Node.js ${version} is too old`,
        fix: `Install Node.js ${leastNodeMajor} or newer.`,
      };

const checkFolder = async (name: string, path: string, wayOut: string): Promise<DoctorCheck> => {
  const problem = await folderProblem(path);
  if (problem === undefined) return { name, state: 'ok', message: path };
  return { name, state: 'broken', message: `${path} ${problem}`, fix: `Make it a writable folder, or ${wayOut}.` };
};

const checkKey = async ({ keyFile, dataDir, env }: DoctorFacts): Promise<DoctorCheck> => {
  const name = 'encryption key';
  try {
    const configured = parseCryptoSecrets(env);
    const found = await (configured ? readEarlierKeys : readKeyFile)(keyFile, dataDir);
    if (configured) return { name, state: 'ok', message: 'from GANTRY_CRYPTO_SECRET' };
    if (found) return { name, state: 'ok', message: keyFile };
  } catch (error) {
    const fix = GantryError.is(error)
      ? 'Do what the message says.'
      : `Make ${keyFile} readable, or set GANTRY_CRYPTO_SECRET.`;
    return { name, state: 'broken', message: messageOf(error), fix };
  }
  const problem = await folderProblem(dirname(keyFile));
  if (problem === undefined) return { name, state: 'ok', message: `${keyFile} (made on first use)` };
  return {
    name,
    state: 'broken',
    message: `the folder of the key file, ${dirname(keyFile)}, ${problem}`,
    fix: 'Make it writable, or set GANTRY_CRYPTO_SECRET.',
  };
};

const checkPort = async ({ host, port, owner }: DoctorFacts['listen']): Promise<DoctorCheck> => {
  const name = 'port';
  if (owner !== undefined) return { name, state: 'ok', message: `the gateway runs at ${owner}` };
  if (port === 0) return { name, state: 'ok', message: 'a free one is taken at start' };
  const problem = await listenProblem(host, port);
  if (problem === undefined) return { name, state: 'ok', message: `${host}:${port} is free` };
  return problem === 'EADDRINUSE'
    ? {
        name,
        state: 'broken',
        message: `${host}:${port} is used by another program`,
        fix: 'Stop that program, or choose another port with --port or "serve": {"port": …}.',
      }
    : {
        name,
        state: 'broken',
        message: `${host}:${port} cannot be listened on (${problem})`,
        fix: 'Correct "host" and "port" in section "serve" of the configuration.',
      };
};

const listenProblem = (host: string, port: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error) => resolve(codeOf(error)));
    probe.listen(port, host, () => probe.close(() => resolve(undefined)));
  });

const checkMcpFile = async (path: string): Promise<DoctorCheck> => {
  const name = 'file of servers';
  try {
    const { entries, refused } = parseMcpFile(await readFile(path, 'utf8'), path);
    if (refused.size > 0)
      return {
        name,
        state: 'broken',
        message: [...refused.values()].join(' '),
        fix: 'Correct the entries; "gantry config schema mcp" prints what they may hold.',
      };
    return { name, state: 'ok', message: `${path}: ${entries.size} server${entries.size === 1 ? '' : 's'}` };
  } catch (error) {
    if (codeOf(error) === 'ENOENT')
      return {
        name,
        state: 'warning',
        message: `${path} is not there, so there are no servers`,
        fix: 'Run "gantry init", then name your MCP servers in it.',
      };
    return {
      name,
      state: 'broken',
      message: messageOf(error),
      fix: 'Correct the file; what is running stays as it is.',
    };
  }
};

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown reason';
