import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { GantryConfig } from './config/config-schema.ts';

/** The folders and files of one Gantry, absolute. */
export interface GantryPaths {
  readonly dataDir: string;
  readonly sharedDir: string;
  readonly storeFile: string;
  /** Beside no data: a backup of the data folder must not hold the key to it. */
  readonly keyFile: string;
  readonly mcpFile: string;
}

/** Where a configuration puts its files; relative paths start at `cwd`. */
export const pathsOf = (
  config: GantryConfig,
  cwd: string,
  env: Readonly<Record<string, string | undefined>>,
): GantryPaths => {
  const dataDir = resolve(cwd, config.dataDir);
  const userConfigDir = env['XDG_CONFIG_HOME'] || join(env['HOME'] || homedir(), '.config');
  return {
    dataDir,
    sharedDir: config.sharedDir === undefined ? join(dataDir, 'shared') : resolve(cwd, config.sharedDir),
    storeFile: join(dataDir, 'gantry.db'),
    keyFile: join(userConfigDir, 'gantry', 'keys.json'),
    mcpFile: resolve(cwd, config.mcp.configPath),
  };
};
