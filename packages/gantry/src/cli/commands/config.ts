import * as z from 'zod';
import { configSchema } from '../../host/config/config-schema.ts';
import { GantryError } from '../../kernel/errors.ts';
import { mcpFileSchema } from '../../mcp/bridge/config/server-entry.ts';
import { configPrint } from '../../operations/config-print.ts';
import { scrubValue } from '../../text/scrub.ts';
import type { Command, CommandContext } from '../command-context.ts';
import type { ConfigProblem } from '../config-problems.ts';
import { duplicateKeys, mcpFileProblems, mcpFileWarnings, toProblems } from '../config-problems.ts';
import type { GatewayAddress } from '../gateway.ts';
import { findOwner, namedGateway } from '../gateway.ts';
import { createPrinter } from '../output/printer.ts';
import type { Settings } from '../settings.ts';
import { loadSettings } from '../settings.ts';
import { tellPerson } from '../output/tell-person.ts';

/** `gantry config check` */
export const checkConfig: Command<[]> = async (context) => {
  const printer = createPrinter(context);
  const settings = await loadOrProblems(context);
  const isLoaded = 'config' in settings;
  const problems = isLoaded
    ? await mcpFileProblems(settings.paths.mcpFile, {
        env: context.io.env,
        authProfiles: new Set(Object.keys(settings.config.mcp.authProfiles)),
        defaultServers: settings.config.mcp.defaultServers,
      })
    : settings.problems;
  const warnings = isLoaded
    ? [
        ...(await duplicateKeys(settings.file)),
        ...(await duplicateKeys(settings.paths.mcpFile)),
        ...(await mcpFileWarnings(settings.paths.mcpFile, settings.config.mcp)),
      ]
    : [];
  const ok = problems.length === 0;
  const files = isLoaded ? { file: settings.file ?? null, mcpFile: settings.paths.mcpFile } : {};
  printer.result({ ok, ...files, problems, warnings }, () =>
    isLoaded && ok
      ? `The configuration is right: ${settings.file ?? 'no file, all defaults'}; servers: ${settings.paths.mcpFile}.`
      : problems.map(inWords).join('\n'),
  );
  for (const warning of warnings) printer.note(`warning: ${inWords(warning)}`);
  return ok ? 0 : 2;
};

const loadOrProblems = async (
  context: CommandContext,
): Promise<Settings | { readonly problems: readonly ConfigProblem[] }> => {
  try {
    return await loadSettings(context);
  } catch (error) {
    if (!GantryError.is(error) || error.code !== 'config_invalid') throw error;
    return { problems: await toProblems(error) };
  }
};

const inWords = ({ source, path, line, column, message }: ConfigProblem): string => {
  const place = line === undefined ? source : `${source}:${line}:${column}`;
  // What could not be parsed says its place itself.
  if (message.startsWith(place)) return message;
  return `${place}: ${path ? `${path}: ` : ''}${message}`;
};

/** `gantry config print` */
export const printConfig: Command<[]> = async (context) => {
  const printer = createPrinter(context);
  const config = await effectiveConfig(context);
  printer.result(config, () => JSON.stringify(config, null, 2));
  return 0;
};

// Nothing has to be started to know the configuration; only a running gateway may have another one.
const effectiveConfig = async (context: CommandContext): Promise<unknown> => {
  const named = namedGateway(context);
  if (named) return ask(context, named);
  const settings = await loadSettings(context);
  const owner = await findOwner(settings);
  return owner ? ask(context, owner) : scrubValue(settings.config);
};

const ask = async (context: CommandContext, { url, token }: GatewayAddress): Promise<unknown> => {
  const { callOperation } = await import('../../operations/http/client.ts');
  tellPerson(context.io, `The configuration of the gateway at ${url}:`);
  return callOperation(url, configPrint, {}, { token, signal: context.io.interrupted });
};

/** `gantry config schema [WHICH]` */
export const printSchema: Command<['config' | 'mcp']> = async (context, which) => {
  const schema = z.toJSONSchema(which === 'mcp' ? mcpFileSchema : configSchema, { io: 'input' });
  createPrinter(context).result(schema, () => JSON.stringify(schema, null, 2));
  return 0;
};
