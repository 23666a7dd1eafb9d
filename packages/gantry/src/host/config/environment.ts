import * as z from 'zod';
import { isObject, parseJson } from '../../kernel/json.ts';
import { nearest } from '../../kernel/nearest.ts';
import { configSchema } from './config-schema.ts';

/** What the environment says. */
export interface EnvironmentConfig {
  readonly config: Readonly<Record<string, unknown>>;
  /** The variable behind each path, for messages. */
  readonly variables: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

/** Variables that are read elsewhere and are no settings of their own. */
const otherVariables = /^GANTRY_(URL|CRYPTO_SECRET(_V[1-9]\d*|_CURRENT)?|BENCH_.*)$/;

/** Short names for settings that people set by hand. */
const aliases: Readonly<Record<string, string>> = {
  GANTRY_TOKEN: 'serve.token',
  GANTRY_DATA: 'dataDir',
  GANTRY_SHARED_PATH: 'sharedDir',
  GANTRY_MAX_TOOL_ITERATIONS: 'loop.maxToolIterations',
  GANTRY_MAX_CONSECUTIVE_TOOL_ERRORS: 'loop.maxConsecutiveToolErrors',
  GANTRY_TOOL_EXECUTION_TIMEOUT_MS: 'loop.maxToolTimeoutMs',
  GANTRY_STREAM_SDK_CALL_TIMEOUT_MS: 'models.callTimeoutMs',
  GANTRY_BRAVE_API_KEY: 'web.apiKey',
  GANTRY_SEARXNG_BASE_URL: 'web.searxngBaseUrl',
  GANTRY_WEB_SEARCH_HEALTHCHECK_CACHE_SEC: 'web.healthcheckCacheSec',
  GANTRY_WEB_SEARCH_TIMEOUT_MS: 'web.searchTimeoutMs',
  GANTRY_FETCH_URL_TIMEOUT_MS: 'web.fetchTimeoutMs',
  GANTRY_FETCH_URL_MAX_CONTENT_LENGTH: 'web.maxContentLength',
  GANTRY_FETCH_URL_ENGINE_ORDER: 'web.fetchEngineOrder',
  GANTRY_MAX_FETCH_SIZE_MB: 'web.maxFetchSizeMb',
  GANTRY_REMOTE_FETCH_MAX_REDIRECTS: 'web.maxRedirects',
};

/** Names from before that hold without `GANTRY_`; what has it wins. The key of Brave is read by the web tools themselves. */
const older: Readonly<Record<string, string>> = {
  SEARXNG_BASE_URL: 'GANTRY_SEARXNG_BASE_URL',
  WEB_SEARCH_HEALTHCHECK_CACHE_SEC: 'GANTRY_WEB_SEARCH_HEALTHCHECK_CACHE_SEC',
  WEB_SEARCH_TIMEOUT_MS: 'GANTRY_WEB_SEARCH_TIMEOUT_MS',
  FETCH_URL_TIMEOUT_MS: 'GANTRY_FETCH_URL_TIMEOUT_MS',
  FETCH_URL_MAX_CONTENT_LENGTH: 'GANTRY_FETCH_URL_MAX_CONTENT_LENGTH',
  FETCH_URL_ENGINE_ORDER: 'GANTRY_FETCH_URL_ENGINE_ORDER',
  MAX_FETCH_SIZE_MB: 'GANTRY_MAX_FETCH_SIZE_MB',
  USER_REMOTE_FETCH_MAX_REDIRECTS: 'GANTRY_REMOTE_FETCH_MAX_REDIRECTS',
};

/**
 * Reads the settings of the environment: `GANTRY_` and the path in capitals with `__` between levels
 * (`GANTRY_MCP__DEFAULTTIMEOUTMS`), `McpBridge__`, `WebTools__` or `LLM__` and the name (any case), or one of the names from before. Texts become what the schema asks for: a
 * number, a boolean, or JSON for lists and maps. An unknown variable is a warning with the nearest name.
 */
export const readEnvironment = (env: Readonly<Record<string, string | undefined>>): EnvironmentConfig => {
  let known: KnownVariables | undefined;
  const config: Record<string, unknown> = {};
  const variables = new Map<string, string>();
  const warnings: string[] = [];

  const take = (variable: string, { path, types }: Leaf, members: readonly string[], text: string): void => {
    const whole = [...path, ...members];
    variables.set(whole.join('.'), variable);
    put(config, whole, members.length === 0 ? toTyped(text, types) : text);
  };

  // Older names come first, so that the others win.
  const entries = Object.entries(env).toSorted(
    ([a], [b]) => Number(b.toUpperCase() in older) - Number(a.toUpperCase() in older),
  );
  for (const [variable, text] of entries) {
    if (text === undefined || text === '') continue;
    const name = toGantryName(variable);
    if (name === undefined || otherVariables.test(name)) continue;
    // Reading the schema takes a twentieth of a start, and most environments hold no setting.
    const { leaves, byVariable } = (known ??= readKnownVariables());
    const alias = aliases[name];
    const leaf =
      alias === undefined ? byVariable.get(name) : leaves.find((candidate) => candidate.path.join('.') === alias);
    if (leaf) take(variable, leaf, [], text);
    else {
      const inside = memberOf(variable, name, byVariable);
      if (inside) take(variable, inside.leaf, inside.members, text);
      else warnings.push(unknown(variable, [...byVariable.keys()]));
    }
  }
  return { config, variables, warnings };
};

interface KnownVariables {
  readonly leaves: readonly Leaf[];
  readonly byVariable: ReadonlyMap<string, Leaf>;
}

const readKnownVariables = (): KnownVariables => {
  const leaves = leavesOf(z.toJSONSchema(configSchema, { io: 'input' }));
  return { leaves, byVariable: new Map(leaves.map((leaf) => [variableOf(leaf.path), leaf])) };
};

/**
 * The map or list that a variable names a member of, and which one, in its own case: GANTRY_MCP__DEFAULTSERVERS__docs. Items of a list have
 * numbers, also those of a list in a map: GANTRY_MCP__DEFAULTELICITATION__DEFAULTS__labels__0.
 */
const memberOf = (
  variable: string,
  name: string,
  leaves: ReadonlyMap<string, Leaf>,
): { readonly leaf: Leaf; readonly members: readonly string[] } | undefined => {
  const words = variable.split('__');
  const names = name.split('__');
  for (const depth of [1, 2]) {
    const leaf = leaves.get(names.slice(0, -depth).join('__'));
    const members = words.slice(-depth);
    const isItem = isIndex(members.at(-1));
    if (leaf?.types.includes('object') && (depth === 1 || isItem)) return { leaf, members };
    if (leaf?.types.includes('array') && depth === 1 && isItem) return { leaf, members };
  }
  return undefined;
};

const isIndex = (text: string | undefined): boolean => text !== undefined && /^(?:0|[1-9]\d{0,3})$/.test(text);

/** Writes a value, making lists where the next step is a number and maps elsewhere. Names of the prototype are plain names. */
const put = (config: Record<string, unknown>, path: readonly string[], value: unknown): void => {
  let at = config;
  for (const [index, key] of path.slice(0, -1).entries()) {
    const known = Object.hasOwn(at, key) ? at[key] : undefined;
    if (typeof known !== 'object' || known === null)
      Object.defineProperty(at, key, {
        value: isIndex(path[index + 1]) ? [] : {},
        enumerable: true,
        configurable: true,
        writable: true,
      });
    at = at[key] as Record<string, unknown>;
  }
  Object.defineProperty(at, path.at(-1) as string, { value, enumerable: true, configurable: true, writable: true });
};

interface Leaf {
  readonly path: readonly string[];
  readonly types: readonly string[];
}

const leavesOf = (schema: unknown, path: readonly string[] = []): Leaf[] => {
  if (!isObject(schema)) return [];
  if (isObject(schema['properties']))
    return Object.entries(schema['properties']).flatMap(([key, member]) => leavesOf(member, [...path, key]));
  return [{ path, types: [schema['type']].flat().filter((type) => typeof type === 'string') }];
};

const variableOf = (path: readonly string[]): string => `GANTRY_${path.join('__').toUpperCase()}`;

const toGantryName = (variable: string): string | undefined => {
  const upper = variable.toUpperCase();
  if (upper.startsWith('MCPBRIDGE__')) return `GANTRY_MCP__${upper.slice('MCPBRIDGE__'.length)}`;
  if (upper.startsWith('WEBTOOLS__')) return `GANTRY_WEB__${upper.slice('WEBTOOLS__'.length)}`;
  if (upper.startsWith('LLM__')) return modelVariable(upper.slice('LLM__'.length));
  if (Object.hasOwn(older, upper)) return older[upper];
  return upper.startsWith('GANTRY_') ? upper : undefined;
};

/** A setting without a tier is one of the balanced tier. */
const modelVariable = (rest: string): string =>
  /^(?:LOW|BALANCED|HIGH)__|^(?:CALLTIMEOUTMS|MAXRETRIES|TIERTHRESHOLDS__)/.test(rest)
    ? `GANTRY_MODELS__${rest}`
    : `GANTRY_MODELS__BALANCED__${rest}`;

const toTyped = (text: string, types: readonly string[]): unknown => {
  if (types.includes('string')) return text;
  const parsed = parseJson(text.trim());
  return parsed.ok ? parsed.value : text;
};

const unknown = (variable: string, known: readonly string[]): string => {
  const [near] = nearest(variable, known);
  return `The environment variable ${variable} names no setting${near ? `; did you mean ${near}?` : ' and has no effect.'}`;
};
