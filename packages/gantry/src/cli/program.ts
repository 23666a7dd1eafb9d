import { Command as Commander, InvalidArgumentError, Option } from 'commander';
import type { LogConfig } from '../host/config/config-schema.ts';
import { version } from '../host/version.ts';
import type { FaceMode } from '../mcp/face/face-mode.ts';
import type { CliHost } from './cli-host.ts';
import type { CliIo } from './cli-io.ts';
import type { Command, ExitCode, GlobalFlags } from './command-context.ts';

const levels = ['debug', 'info', 'warn', 'error', 'silent'] satisfies LogConfig['level'][];
const modes = ['auto', 'off', 'eager', 'lazy', 'pinned'] satisfies FaceMode[];

/** Makes the command line. `finish` is told how the command that ran came out. Modules of commands are loaded when they run. */
export const createProgram = (io: CliIo, host: CliHost, finish: (code: ExitCode) => void): Commander => {
  const program = new Commander('gantry')
    .description('The tool layer of an LLM agent: every tool and MCP server behind one endpoint.')
    .version(version, '-V, --version', 'print the version')
    .option('--config <file>', 'configuration file (default: gantry.config.ts or gantry.config.json)')
    .option('--mcp <file>', 'file of MCP servers (default: mcp.json)')
    .option('--data <dir>', 'data folder (default: .gantry)')
    .addOption(new Option('--log-level <level>', 'least important line to log').choices(levels))
    .option('--url <url>', 'ask the gateway at this address (GANTRY_URL)')
    .option('--json', 'print one JSON document and nothing else on standard output')
    .helpOption('-h, --help', 'show help')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
      getOutHasColors: () => false,
      getErrHasColors: () => false,
    })
    .exitOverride();

  const run = async <Args extends readonly unknown[]>(command: Promise<Command<Args>>, ...args: Args): Promise<void> =>
    finish(await (await command)({ io, host, flags: program.opts<GlobalFlags>() }, ...args));

  program
    .command('init')
    .description('write a gantry.config.json and an mcp.json to start from; never overwrites')
    .action(() => run(import('./commands/init.ts').then((module) => module.runInit)));
  program
    .command('serve')
    .description('run the gateway')
    .option('--port <port>', 'port to listen on; 0 takes a free one (default: 7420)', toPort)
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .action((options: { port?: number; host?: string }) =>
      run(
        import('./commands/serve.ts').then((module) => module.runServe),
        options,
      ),
    );
  program
    .command('mcp')
    .description('serve one MCP client over standard input and output')
    .addOption(new Option('--mode <mode>', "how servers' tools are offered (default: auto)").choices(modes))
    .action((options: { mode?: FaceMode }) =>
      run(
        import('./commands/mcp.ts').then((module) => module.runMcp),
        options,
      ),
    );

  const tools = program.command('tools').description('list, show and call tools');
  tools
    .command('list')
    .description('list the tools that can be called now')
    .option('--source <source>', 'only tools of this source')
    .option('--all', 'everything registered, also what is not offered now')
    .action((options: { source?: string; all?: boolean }) =>
      run(
        import('./commands/tools.ts').then((module) => module.listTools),
        options,
      ),
    );
  tools
    .command('show <name>')
    .description('show description, schema, source and guide of a tool')
    .action((name: string) =>
      run(
        import('./commands/tools.ts').then((module) => module.showTool),
        name,
      ),
    );
  tools
    .command('call <name>')
    .description('call a tool; exits 1 when the call failed')
    .option('--args <json>', 'arguments as JSON; - reads them from standard input')
    .option('--session <id>', 'session whose working memory the call sees')
    .option('--timeout <ms>', 'how long the call may take, milliseconds', toPositive)
    .action((name: string, options: { args?: string; session?: string; timeout?: number }) =>
      run(
        import('./commands/tools.ts').then((module) => module.callTool),
        name,
        options,
      ),
    );

  const servers = program.command('servers').description('MCP servers and how they stand');
  servers
    .command('list')
    .description('list the servers and their states')
    .action(() => run(import('./commands/servers.ts').then((module) => module.listServers)));
  servers
    .command('show <name>')
    .description('show state, identity, tools and prompts of a server')
    .action((name: string) =>
      run(
        import('./commands/servers.ts').then((module) => module.showServer),
        name,
      ),
    );
  servers
    .command('refresh [name]')
    .description('connect again and list tools anew: one server or all; exits 1 when one is down')
    .action((name: string | undefined) =>
      run(
        import('./commands/servers.ts').then((module) => module.refreshServers),
        name,
      ),
    );

  const guides = program.command('guides').description('usage guides of the tool families');
  guides
    .command('list')
    .description('list the guides')
    .action(() => run(import('./commands/guides.ts').then((module) => module.listGuides)));
  guides
    .command('show <name>')
    .description('show a guide')
    .action((name: string) =>
      run(
        import('./commands/guides.ts').then((module) => module.showGuide),
        name,
      ),
    );

  const config = program.command('config').description('check, print and describe the configuration');
  config
    .command('check')
    .description('check configuration file, environment and mcp.json; exits 2 when something is wrong')
    .action(() => run(import('./commands/config.ts').then((module) => module.checkConfig)));
  config
    .command('print')
    .description('print the configuration in effect, with secrets masked')
    .action(() => run(import('./commands/config.ts').then((module) => module.printConfig)));
  config
    .command('schema')
    .description('print the JSON Schema of gantry.config.json or of mcp.json')
    .argument('[which]', 'config or mcp', toSchemaName, 'config' as const)
    .action((which: 'config' | 'mcp') =>
      run(
        import('./commands/config.ts').then((module) => module.printSchema),
        which,
      ),
    );

  program
    .command('doctor')
    .description('check runtime, folders, port, configuration and servers; says the fix for each problem')
    .action(() => run(import('./commands/doctor.ts').then((module) => module.runDoctor)));
  return program;
};

const toPort = (text: string): number => {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('Give a number from 0 to 65535.');
};

const toPositive = (text: string): number => {
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Give a whole number above 0.');
};

const toSchemaName = (text: string): 'config' | 'mcp' => {
  if (text === 'config' || text === 'mcp') return text;
  throw new InvalidArgumentError('There are two: config and mcp.');
};
