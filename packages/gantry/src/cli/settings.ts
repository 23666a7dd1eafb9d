import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { GantryConfig } from '../host/config/config-schema.ts';
import type { RawConfig } from '../host/config/load-config.ts';
import type { GantryPaths } from '../host/paths.ts';
import { GantryError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import type { CommandContext } from './command-context.ts';
import { startOrInterrupted } from './start-or-interrupted.ts';
import { tellPerson } from './output/tell-person.ts';

/** The configuration that a command works with, and what follows from it. */
export interface Settings {
  readonly config: GantryConfig;
  readonly paths: GantryPaths;
  /** The file it was read from, if there was one. */
  readonly file: string | undefined;
  createLog(): Promise<Log>;
}

/** What a command wants of its settings. */
export interface SettingsOptions {
  /** Flags of this command alone, as configuration. */
  readonly flags?: RawConfig | undefined;
  /** Log what the configuration says; else only warnings and errors, unless a flag or the environment says more. */
  readonly isService?: boolean | undefined;
  /** The file of servers that is named on the command line may be made by the command. Default false: it must be there. */
  readonly mayMakeMcpFile?: boolean | undefined;
}

/**
 * Loads the configuration for a command: flags over environment over file. Warnings go to standard error.
 * @throws {GantryError} `config_invalid` naming the file, variable or flag, the path in it and the fix.
 */
export const loadSettings = async (context: CommandContext, options: SettingsOptions = {}): Promise<Settings> => {
  const { io, flags } = context;
  const { loadConfig } = await import('../host/config/load-config.ts');
  const loading = loadConfig({
    file: flags.config,
    flags: { ...globalSettings(flags), ...options.flags },
    env: io.env,
    cwd: io.cwd,
  });
  const loaded = await startOrInterrupted(loading, io);
  if (flags.mcp !== undefined && !options.mayMakeMcpFile) mustExist(resolve(io.cwd, flags.mcp));
  for (const warning of loaded.warnings) tellPerson(io, `gantry: warning: ${warning}`);
  const { pathsOf } = await import('../host/paths.ts');
  const isLevelAskedFor = flags.logLevel !== undefined || io.env['GANTRY_LOG__LEVEL'] !== undefined;
  const { config } = loaded;
  const level = options.isService || isLevelAskedFor || config.log.level !== 'info' ? config.log.level : 'warn';
  return {
    config,
    paths: pathsOf(config, io.cwd, io.env),
    file: loaded.file,
    createLog: async () => {
      const { createLog } = await import('../host/create-log.ts');
      return createLog({ level });
    },
  };
};

const mustExist = (path: string): void => {
  if (existsSync(path)) return;
  throw new GantryError(
    'config_invalid',
    `There is no file of MCP servers ${path}; correct --mcp or run "gantry init".`,
    { details: { file: path } },
  );
};

/** The flags that every command takes, as configuration. */
export const globalSettings = ({ mcp, data, logLevel }: CommandContext['flags']): RawConfig => ({
  ...(mcp !== undefined && { mcp: { configPath: mcp } }),
  ...(data !== undefined && { dataDir: data }),
  ...(logLevel !== undefined && { log: { level: logLevel } }),
});
