import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import { parseJsonc } from '../../kernel/jsonc.ts';
import { nearest } from '../../kernel/nearest.ts';
import type { GantryConfig } from './config-schema.ts';
import { configSchema } from './config-schema.ts';
import { readEnvironment } from './environment.ts';

/** A nested configuration that is not checked yet. */
export type RawConfig = Readonly<Record<string, unknown>>;

/** A loaded configuration and where it comes from. */
export interface LoadedConfig {
  readonly config: GantryConfig;
  /** Absolute path of the file that was read, if there was one. */
  readonly file: string | undefined;
  readonly warnings: readonly string[];
}

/** Where a configuration is looked for. */
export interface LoadConfigOptions {
  /** Named by the user; must exist. Default: `gantry.config.ts` or `gantry.config.json` in `cwd` if there is one. */
  readonly file?: string | undefined;
  /** Given on the command line; wins over the environment, which wins over the file. */
  readonly flags?: RawConfig | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

/**
 * Loads, merges and checks the configuration.
 * @throws {GantryError} `config_invalid` naming the file, variable or flag, the path in it and the fix.
 */
export const loadConfig = async (options: LoadConfigOptions): Promise<LoadedConfig> => {
  const warnings: string[] = [];
  const file = findFile(options, warnings);
  const fromFile = file === undefined ? {} : await readConfigFile(file);
  const environment = readEnvironment(options.env);
  warnings.push(...environment.warnings);
  const merged = merge(merge(fromFile, environment.config), options.flags ?? {});
  const parsed = configSchema.safeParse(merged);
  if (parsed.success) return { config: parsed.data, file, warnings };
  const sourceOf = (path: readonly PropertyKey[]): string => {
    const key = path.join('.');
    if (has(options.flags ?? {}, path)) return 'command line';
    return environment.variables.get(key) ?? file ?? 'configuration';
  };
  throw invalid(parsed.error, sourceOf, file);
};

const findFile = ({ file, cwd }: LoadConfigOptions, warnings: string[]): string | undefined => {
  if (file !== undefined) {
    const path = resolve(cwd, file);
    if (!existsSync(path))
      throw new GantryError(
        'config_invalid',
        `There is no configuration file ${path}; correct --config or run "gantry init".`,
        {
          details: { file: path },
        },
      );
    return path;
  }
  const [ts, json] = [resolve(cwd, 'gantry.config.ts'), resolve(cwd, 'gantry.config.json')];
  if (!existsSync(ts)) return existsSync(json) ? json : undefined;
  if (existsSync(json)) warnings.push(`Both gantry.config.ts and gantry.config.json are there; ${ts} is used.`);
  return ts;
};

const readConfigFile = async (path: string): Promise<RawConfig> => {
  const value = /\.[cm]?[jt]s$/.test(path) ? await importConfig(path) : parseJsonc(await readFile(path, 'utf8'), path);
  if (isObject(value)) return value;
  throw new GantryError('config_invalid', `${path}: an object is needed, as in {"mcp": {"stdio": "launch"}}.`, {
    details: { file: path },
  });
};

const importConfig = async (path: string): Promise<unknown> => {
  try {
    const module = (await import(pathToFileURL(path).href)) as { default?: unknown };
    return module.default;
  } catch (error) {
    throw new GantryError('config_invalid', `${path}: cannot be loaded: ${messageOf(error)}`, {
      cause: error,
      details: { file: path },
    });
  }
};

const merge = (under: RawConfig, over: RawConfig): RawConfig => {
  const merged: Record<string, unknown> = { ...under };
  for (const [key, value] of Object.entries(over)) {
    if (value === undefined) continue;
    const before = merged[key];
    merged[key] = isObject(before) && isObject(value) ? merge(before, value) : value;
  }
  return merged;
};

const has = (config: RawConfig, path: readonly PropertyKey[]): boolean => {
  let at: unknown = config;
  for (const key of path) {
    if (!isObject(at) || at[String(key)] === undefined) return false;
    at = at[String(key)];
  }
  return path.length > 0;
};

const invalid = (
  error: z.ZodError,
  sourceOf: (path: readonly PropertyKey[]) => string,
  file: string | undefined,
): GantryError => {
  const problems = error.issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys')
      return [{ source: sourceOf(issue.path), path: issue.path.join('.'), message: `${issue.message}.` }];
    const known = knownKeysAt(issue.path);
    return issue.keys.map((key) => {
      const near = nearest(key, known);
      const hint = near.length > 0 ? `did you mean "${near[0]}"?` : `known: ${known.join(', ')}.`;
      const path = [...issue.path, key];
      return { source: sourceOf(path), path: path.join('.'), message: `there is no such setting; ${hint}` };
    });
  });
  const text = problems.map(({ source, path, message }) => `${source}: ${path}: ${message}`).join('\n');
  return new GantryError('config_invalid', text, {
    details: { file, path: error.issues[0]?.path.join('.'), problems },
  });
};

const knownKeysAt = (path: readonly PropertyKey[]): string[] => {
  let schema: unknown = z.toJSONSchema(configSchema, { io: 'input' });
  for (const key of path)
    schema = isObject(schema) && isObject(schema['properties']) ? schema['properties'][String(key)] : undefined;
  return isObject(schema) && isObject(schema['properties']) ? Object.keys(schema['properties']) : [];
};
