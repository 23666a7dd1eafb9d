import { Command as Commander, InvalidArgumentError, Option } from 'commander';
import type { LogConfig } from '../host/config/config-schema.ts';
import { version } from '../host/version.ts';
import type { FaceMode } from '../mcp/face/face-mode.ts';
import type { ToolFamily } from '../tool/tool-family.ts';
import { toolFamilies } from '../tool/tool-family.ts';
import type { CliHost } from './cli-host.ts';
import type { CliIo } from './cli-io.ts';
import type { Command, ExitCode, GlobalFlags } from './command-context.ts';
import type { ServeFlags, ServeRole } from './commands/serve.ts';
import type { ChatFlags } from './commands/chat.ts';
import type { AddTaskFlags } from './commands/schedule.ts';

const levels = ['debug', 'info', 'warn', 'error', 'silent'] satisfies LogConfig['level'][];
const roles = ['gateway', 'browser', 'scripts-manager'] satisfies ServeRole[];
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
      outputError: (text, write) => write(withWayOut(text)),
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
    .addOption(
      new Option(
        '--role <role>',
        'what to run: the gateway, the render service or the scripts manager (default: gateway)',
      ).choices(roles),
    )
    .option(
      '--port <port>',
      'port to listen on; 0 takes a free one (default: 7420; browser: 8083; scripts-manager: 8084)',
      toPort,
    )
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .action((options: ServeFlags) =>
      run(
        import('./commands/serve.ts').then((module) => module.runServe),
        options,
      ),
    );
  program
    .command('mcp')
    .description('serve one MCP client over standard input and output')
    .addOption(new Option('--mode <mode>', "how servers' tools are offered (default: auto)").choices(modes))
    .option('--server <name>', 'one server as it is, through the gateway that runs (default: the tools of all)')
    .action((options: { mode?: FaceMode; server?: string }) =>
      run(
        import('./commands/mcp.ts').then((module) => module.runMcp),
        options,
      ),
    );
  program
    .command('chat')
    .description('talk to the agent; Ctrl-C stops a turn')
    .option('--session <id>', 'conversation to go on with (default: a new one)')
    .option('--workspace <id>', 'workspace of the conversation (default: none)')
    .option('--message <text>', 'one turn, then exit; without a terminal the text may come on standard input')
    .action((options: ChatFlags) =>
      run(
        import('./commands/chat.ts').then((module) => module.runChatCommand),
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
    .command('find <query>')
    .description('search the tools of all MCP servers by what they do')
    .option('--limit <n>', 'how many at most (default: 10)', toPositive)
    .action((query: string, options: { limit?: number }) =>
      run(
        import('./commands/tools.ts').then((module) => module.findTools),
        query,
        options,
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

  servers
    .command('add <name> [program...]')
    .description('add a server by its address, or by its program and arguments after --')
    .option('--url <url>', 'address of an HTTP server')
    .option('--header <name=value>', 'HTTP header; may be given several times', collect)
    .addOption(
      new Option('--family <family>', 'its tools take the place of fetch_url or web_search').choices(toolFamilies),
    )
    .action((name: string, words: string[], options: { url?: string; header?: string[]; family?: ToolFamily }) =>
      run(
        import('./commands/servers-edit.ts').then((module) => module.addServer),
        name,
        words,
        options,
      ),
    );
  for (const [verb, description] of [
    ['remove', 'remove a server from mcp.json'],
    ['enable', 'switch a server on'],
    ['disable', 'switch a server off; its entry stays in mcp.json'],
  ] as const)
    servers
      .command(`${verb} <name>`)
      .description(description)
      .action((name: string) =>
        run(
          import('./commands/servers-edit.ts').then((module) => module[`${verb}Server`]),
          name,
        ),
      );
  servers
    .command('login <name>')
    .description('sign in to a server: prints the address to open and waits for the answer')
    .option('--port <port>', 'port on this machine that the answer comes back to (default: a free one)', toPort)
    .action((name: string, options: { port?: number }) =>
      run(
        import('./commands/servers-edit.ts').then((module) => module.loginServer),
        name,
        options,
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

  const questions = program.command('questions').description('questions of servers that wait for an answer');
  questions
    .command('list')
    .description('list the open questions')
    .action(() => run(import('./commands/questions.ts').then((module) => module.listQuestions)));
  questions
    .command('answer <id>')
    .description('answer a question; its call goes on, and the result is printed')
    .option('--answers <json>', 'values by field name as a JSON object')
    .action((id: string, options: { answers?: string }) =>
      run(
        import('./commands/questions.ts').then((module) => module.answerQuestion),
        id,
        options,
      ),
    );
  questions
    .command('decline <id>')
    .description('decline a question; its call goes on without an answer')
    .action((id: string) =>
      run(
        import('./commands/questions.ts').then((module) => module.declineQuestion),
        id,
      ),
    );

  const tasks = program.command('tasks').description('calls that go on in the background');
  tasks
    .command('list')
    .description('list the background tasks')
    .action(() => run(import('./commands/tasks.ts').then((module) => module.listTasks)));
  tasks
    .command('cancel <id>')
    .description('cancel a background task; its session gets no result')
    .action((id: string) =>
      run(
        import('./commands/tasks.ts').then((module) => module.cancelTask),
        id,
      ),
    );

  const tokens = program.command('tokens').description('access tokens of the gateway');
  tokens
    .command('create <name>')
    .description('make a token; it is shown this once')
    .option('--scope <scope>', 'mcp (default), read or admin; may be given several times', collect)
    .action((name: string, options: { scope?: readonly string[] }) =>
      run(
        import('./commands/tokens.ts').then((module) => module.createToken),
        name,
        options,
      ),
    );
  tokens
    .command('list')
    .description('list the tokens, without the tokens themselves')
    .action(() => run(import('./commands/tokens.ts').then((module) => module.listTokens)));
  tokens
    .command('revoke <name>')
    .description('refuse a token from now on')
    .action((name: string) =>
      run(
        import('./commands/tokens.ts').then((module) => module.revokeToken),
        name,
      ),
    );

  const schedule = program.command('schedule').description('scheduled work; it runs while a gateway runs');
  const workspace = ['--workspace <id>', 'workspace of the task (default: none)'] as const;
  schedule
    .command('list')
    .description('list the scheduled tasks and their next runs')
    .action(() => run(import('./commands/schedule.ts').then((module) => module.listTasks)));
  schedule
    .command('show <name>')
    .description('show a task and its last runs')
    .option(...workspace)
    .action((name: string, options: { workspace?: string }) =>
      run(
        import('./commands/schedule.ts').then((module) => module.showTask),
        name,
        options,
      ),
    );
  schedule
    .command('add <name>')
    .description('schedule a prompt or a tool call; replaces the task of that name')
    .option('--cron <expr>', 'repeat: minute hour day-of-month month day-of-week')
    .option('--at <time>', 'once, at this moment: 2026-05-01T09:00:00')
    .option('--time-zone <zone>', 'zone of the times, such as Europe/Berlin (default: that of schedule list)')
    .option('--once', 'remove the task after its first run')
    .addOption(
      new Option('--missed <what>', 'what happens to runs that were missed while no gateway ran').choices([
        'skip',
        'once',
      ]),
    )
    .option('--prompt <text>', 'what the agent is to do')
    .option('--tool <name>', 'tool to call instead')
    .option('--args <json>', 'arguments of the tool as JSON')
    .option(...workspace)
    .action((name: string, options: AddTaskFlags) =>
      run(
        import('./commands/schedule.ts').then((module) => module.addTask),
        name,
        options,
      ),
    );
  schedule
    .command('cancel <name>')
    .description('remove a task; a run that goes on is not stopped')
    .option(...workspace)
    .action((name: string, options: { workspace?: string }) =>
      run(
        import('./commands/schedule.ts').then((module) => module.cancelTask),
        name,
        options,
      ),
    );

  const memory = program.command('memory').description('working memory: what agents keep for minutes or hours');
  memory
    .command('list [prefix]')
    .description('list the entries, newest first')
    .action((prefix: string | undefined) =>
      run(
        import('./commands/memory.ts').then((module) => module.listMemory),
        prefix,
      ),
    );
  memory
    .command('show <key>')
    .description('print the text of an entry')
    .action((key: string) =>
      run(
        import('./commands/memory.ts').then((module) => module.showMemory),
        key,
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

/** An unknown command that is near to none would leave its user with nothing to go on. */
const withWayOut = (text: string): string =>
  text.startsWith('error: unknown command') && !text.includes('Did you mean')
    ? `${text.trimEnd()}; run "gantry --help" for what there is.\n`
    : text;

const collect = (value: string, before: string[] = []): string[] => [...before, value];

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
