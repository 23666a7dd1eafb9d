import type { GantryConfig } from '../../host/config/config-schema.ts';
import type { GantryPaths } from '../../host/paths.ts';
import { existsSync } from 'node:fs';
import type { Command } from '../command-context.ts';
import { loadSettings } from '../settings.ts';
import { startOrInterrupted } from '../start-or-interrupted.ts';
import { untilInterrupted } from '../until-interrupted.ts';

/** What `gantry serve` can be in a deployment that is split: the gateway, the render service, or the scripts manager. */
export type ServeRole = 'gateway' | 'browser' | 'scripts-manager';

/** Flags of `gantry serve`. */
export interface ServeFlags {
  readonly port?: number | undefined;
  readonly host?: string | undefined;
  readonly role?: ServeRole | undefined;
}

/** `gantry serve`: runs until it is interrupted, then stops in order. */
export const runServe: Command<[ServeFlags]> = async (context, { port, host, role }) => {
  if (role === 'browser') return runBrowser(context, { port, host });
  if (role === 'scripts-manager') return runScriptsManager(context, { port, host });
  const { io, flags } = context;
  const settings = await loadSettings(context, { isService: true, flags: { serve: { port, host } } });
  const { config, paths } = settings;
  const starting = context.host.serveGateway(config, {
    log: await settings.createLog(),
    cwd: io.cwd,
    env: io.env,
    configFile: settings.file,
  });
  await using gateway = await startOrInterrupted(starting, io);
  const { url } = gateway;
  if (flags.json) io.stdout.write(`${JSON.stringify({ url, mcp: `${url}/mcp`, api: `${url}/api/v1` }, null, 2)}\n`);
  io.stderr.write(`${welcome(url, config, paths).join('\n')}\n`);
  await untilInterrupted(io.interrupted);
  return 0;
};

/** Where a render service listens unless `--port` says otherwise: beside a gateway, which may share its configuration. */
const browserPort = 8083;

const runBrowser: Command<[Omit<ServeFlags, 'role'>]> = async (context, { port = browserPort, host }) => {
  const { io, flags } = context;
  const settings = await loadSettings(context, { isService: true, flags: { serve: { host } } });
  const starting = context.host.serveBrowser(settings.config, {
    log: await settings.createLog(),
    env: io.env,
    port,
  });
  await using browser = await startOrInterrupted(starting, io);
  const { url } = browser;
  if (flags.json) io.stdout.write(`${JSON.stringify({ url, render: `${url}/render` }, null, 2)}\n`);
  io.stderr.write(
    `The render service is ready at ${url} (POST /render, GET /health); set web.renderServiceUrl to it.\n`,
  );
  await untilInterrupted(io.interrupted);
  return 0;
};

/** Where a scripts manager says how it is: beside the others, which may share its configuration. */
const scriptsManagerPort = 8084;

const runScriptsManager: Command<[Omit<ServeFlags, 'role'>]> = async (context, flags) => {
  const { io } = context;
  const { port = scriptsManagerPort, host } = flags;
  const settings = await loadSettings(context, { isService: true, flags: { serve: { host } } });
  const starting = context.host.serveScriptsManager(settings.config, { log: await settings.createLog(), port });
  await using manager = await startOrInterrupted(starting, io);
  const { url, broker } = manager;
  if (context.flags.json) io.stdout.write(`${JSON.stringify({ url, broker }, null, 2)}\n`);
  io.stderr.write(`The scripts manager is ready: it takes scripts from ${broker} (GET ${url}/healthz).\n`);
  await untilInterrupted(io.interrupted);
  return 0;
};

const welcome = (url: string, config: GantryConfig, paths: GantryPaths): readonly string[] => {
  const header = config.serve.token === undefined ? '' : ' --header "Authorization: Bearer $GANTRY_TOKEN"';
  const servers = existsSync(paths.mcpFile)
    ? `MCP servers are read from ${paths.mcpFile}; changes are noticed while it runs.`
    : `Name your MCP servers in ${paths.mcpFile} ("gantry init" writes one to start from); it is noticed while it runs.`;
  return [
    `Gantry is ready at ${url} (MCP at ${url}/mcp, API at ${url}/api/v1).`,
    `  Connect Claude Code:  claude mcp add --transport http gantry ${url}/mcp${header}`,
    `  Any other MCP client: {"mcpServers": {"gantry": {"type": "http", "url": "${url}/mcp"}}}, or the program "gantry mcp".`,
    `  ${servers}`,
  ];
};
