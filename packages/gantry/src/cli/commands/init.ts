import { writeFile } from 'node:fs/promises';
import { dirname, relative, resolve, sep } from 'node:path';
import { existsSync } from 'node:fs';
import * as z from 'zod';
import { configSchema } from '../../host/config/config-schema.ts';
import { GantryError } from '../../kernel/errors.ts';
import { makeFolder } from '../../kernel/make-folder.ts';
import { mcpFileSchema } from '../../mcp/bridge/config/server-entry.ts';
import type { Command } from '../command-context.ts';
import { createPrinter } from '../output/printer.ts';

/** `gantry init`: writes what is not there yet and never overwrites. */
export const runInit: Command<[]> = async (context) => {
  const { io, flags } = context;
  const printer = createPrinter(context);
  const dataDir = resolve(io.cwd, flags.data ?? io.env['GANTRY_DATA'] ?? '.gantry');
  const configFile = resolve(io.cwd, flags.config ?? presentConfig(io.cwd));
  const mcpFile = resolve(io.cwd, flags.mcp ?? io.env['GANTRY_MCP__CONFIGPATH'] ?? 'mcp.json');
  const schemas = { config: resolve(dataDir, 'schemas/config.json'), mcp: resolve(dataDir, 'schemas/mcp.json') };

  const written: string[] = [];
  const kept: string[] = [];
  const add = async (file: string, text: string): Promise<void> => {
    if (await orUnwritable(file, () => writeNew(file, text))) written.push(file);
    else kept.push(file);
  };
  await add(configFile, configText(addressFrom(configFile, schemas.config)));
  await add(mcpFile, mcpText(addressFrom(mcpFile, schemas.mcp)));
  // Schemas belong to this version of Gantry and not to the user, so they are always brought up to date.
  await orUnwritable(dataDir, async () => {
    await makeFolder(dirname(schemas.config), 0o700);
    await writeFile(schemas.config, toText(configSchema));
    await writeFile(schemas.mcp, toText(mcpFileSchema));
  });

  printer.result({ written, kept }, () =>
    [
      ...written.map((file) => `wrote ${file}`),
      ...kept.map((file) => `left ${file} as it is`),
      written.length === 0
        ? 'Nothing was to be done.'
        : 'Next: name your MCP servers in mcp.json, then "gantry serve".',
    ].join('\n'),
  );
  return 0;
};

const presentConfig = (cwd: string): string =>
  existsSync(resolve(cwd, 'gantry.config.ts')) ? 'gantry.config.ts' : 'gantry.config.json';

const writeNew = async (file: string, text: string): Promise<boolean> => {
  await makeFolder(dirname(file));
  try {
    await writeFile(file, text, { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
};

const orUnwritable = async <T>(path: string, write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    const { code = 'unknown reason' } = error as NodeJS.ErrnoException;
    throw new GantryError(
      'config_invalid',
      `${path} cannot be written (${code}); run "gantry init" in a folder that you may write, or choose other places with --config, --mcp and --data.`,
      { details: { file: path }, cause: error },
    );
  }
};

/** A file as an editor finds it from another one. */
const addressFrom = (from: string, to: string): string => {
  const way = relative(dirname(from), to).split(sep).join('/');
  return way.startsWith('../') ? way : `./${way}`;
};

const toText = (schema: z.ZodType): string => `${JSON.stringify(z.toJSONSchema(schema, { io: 'input' }), null, 2)}\n`;

const configText = (schema: string): string => `{
  // How Gantry runs here. Comments are allowed; everything left out has its default.
  // "gantry config schema" lists all settings, "gantry config check" looks for mistakes.
  "$schema": ${JSON.stringify(schema)},

  // The gateway. Anything but a loopback address needs a token (GANTRY_TOKEN).
  "serve": {
    "host": "127.0.0.1",
    "port": 7420
  },

  // MCP servers are named in mcp.json. Entries with a "command" are programs: "launch" starts them, "skip" leaves them out.
  "mcp": {
    "stdio": "skip"
  }

  // A model for "gantry chat", here with Ollama: put a comma behind the line above and take the marks away.
  // Other providers: openai, anthropic, google, azure; with "apiKey" instead of "endpoint".
  // "models": {
  //   "balanced": { "provider": "openai-compatible", "endpoint": "http://127.0.0.1:11434/v1", "modelId": "qwen3" }
  // }
}
`;

const mcpText = (schema: string): string => `{
  "$schema": ${JSON.stringify(schema)},
  // The MCP servers behind Gantry. A running gateway notices changes by itself.
  // "docs": { "url": "https://example.com/mcp" } reaches a server over HTTP;
  // "files": { "command": "npx", "args": ["-y", "some-mcp-server"] } starts a program ("mcp": {"stdio": "launch"} in gantry.config.json).
  "mcpServers": {}
}
`;
