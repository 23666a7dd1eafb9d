import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import * as z from 'zod';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GantryConfig } from '../host/config/config-schema.ts';
import { GantryError } from '../kernel/errors.ts';
import type { ServerStatus } from '../mcp/wire/server-state.ts';
import { checkServers } from '../operations/doctor/check-servers.ts';
import { toReport } from '../operations/doctor/doctor-report.ts';
import type { OperationDeps } from '../operations/operation-deps.ts';
import type { FakeClock } from '../testing/fake-clock.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { makeOperationDeps } from '../testing/make-operation-deps.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { CliHost } from './cli-host.ts';
import type { CliIo } from './cli-io.ts';
import { runCli } from './run-cli.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'gantry-cli-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const echo = defineTool({
  name: 'echo',
  description: 'Gives back.',
  source: 'test',
  input: z.strictObject({ text: z.string() }),
  execute: ({ text }, context) => {
    context.onProgress?.({ progress: 1, total: 2, message: 'half' });
    return `${text} in ${context.namespace ?? 'no session'}`;
  },
});
const server: ServerStatus = {
  name: 'wiki',
  id: '0123456789ab',
  state: 'unreachable',
  transport: 'auto',
  protocolVersion: null,
  tools: 0,
  prompts: 0,
  resources: 0,
  fingerprint: null,
  origin: 'operator',
  lastError: 'refused',
};
const edits: unknown[] = [];
const edited = (...what: unknown[]): Promise<ServerStatus> => {
  edits.push(what);
  return Promise.resolve({ ...server, state: 'connected', lastError: undefined });
};
const makeDeps = ({ servers = [server], configError }: World): OperationDeps =>
  makeOperationDeps([echo], {
    serverEdits: {
      add: (name, entry) => edited('add', name, entry),
      remove: async (name) => void (await edited('remove', name)),
      setEnabled: (name, isEnabled) => edited('setEnabled', name, isEnabled),
      startSignIn: async (_name, redirectUrl) => {
        // The browser: goes to the address and is sent back.
        setImmediate(() => void fetch(`${redirectUrl}?state=s&code=c`));
        return { authorizationUrl: 'https://as.example/authorize', state: 's' };
      },
      finishSignIn: ({ state, code }) => edited('finish', state, code),
    },
    doctor: async () => toReport([{ name: 'port', state: 'ok', message: 'again' }, ...checkServers([server])]),
    servers: {
      list: () => servers,
      details: async () => undefined,
      refresh: async () => {},
      configError: () => configError,
    },
  });

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** What was started, waited for and stopped, in order. */
  readonly steps: readonly string[];
  readonly configs: readonly GantryConfig[];
}

interface World {
  readonly env?: Record<string, string> | undefined;
  readonly stdin?: string | undefined;
  readonly stdout?: { readonly isTTY?: boolean; readonly columns?: number } | undefined;
  readonly interrupted?: AbortSignal | undefined;
  readonly failure?: unknown;
  /** What waiting for the servers takes. */
  readonly ready?: ((clock: FakeClock) => Promise<void>) | undefined;
  readonly servers?: readonly ServerStatus[] | undefined;
  readonly configError?: string | undefined;
}

const run = async (argv: string[], world: World = {}): Promise<Ran> => {
  let [out, err] = ['', ''];
  const steps: string[] = [];
  const configs: GantryConfig[] = [];
  const clock = fakeClock();
  const io: CliIo = {
    stdout: { write: (text) => (out += text), ...world.stdout },
    stderr: { write: (text) => (err += text) },
    stdin: Readable.from([world.stdin ?? '']),
    env: { HOME: cwd, ...world.env },
    cwd,
    clock,
    interrupted: world.interrupted ?? new AbortController().signal,
  };
  const host: CliHost = {
    startLocal: async (config) => {
      steps.push('start');
      configs.push(config);
      if (world.failure !== undefined) throw world.failure as Error;
      return {
        deps: makeDeps(world),
        ready: async (name) => {
          await world.ready?.(clock);
          steps.push(name === undefined ? 'ready' : `ready ${name}`);
        },
        serveStdio: async (mode) => void steps.push(`stdio ${mode}`),
        [Symbol.asyncDispose]: async () => void steps.push('stop'),
      };
    },
    serveBrowser: async () => {
      throw new Error('no command here runs a render service');
    },
    serveScriptsManager: async (config, { port }) => {
      steps.push(`scripts manager on ${port}`);
      configs.push(config);
      return {
        url: 'http://127.0.0.1:8084',
        broker: 'amqp://mq:5672',
        [Symbol.asyncDispose]: async () => void steps.push('stop'),
      };
    },
    serveGateway: async (config) => {
      steps.push('serve');
      configs.push(config);
      if (world.failure !== undefined) throw world.failure as Error;
      return {
        url: 'http://127.0.0.1:7420',
        mcpFile: 'mcp.json',
        [Symbol.asyncDispose]: async () => void steps.push('stop'),
      };
    },
  };
  const code = await runCli(argv, io, host);
  return { code, out, err, steps, configs };
};

const json = async (argv: string[], world: World = {}): Promise<[number, unknown]> => {
  const { code, out } = await run([...argv, '--json'], world);
  return [code, JSON.parse(out)];
};

describe('usage', () => {
  it.each([
    [['serv'], 'Did you mean serve?'],
    [['tools', 'lst'], 'Did you mean list?'],
    [['frob'], 'run "gantry --help"'],
    [['tools', 'frobnicate'], 'run "gantry --help"'],
    [['tools', 'list', '--sorce', 'x'], 'Did you mean --source?'],
    [['--mpc', 'x', 'doctor'], 'Did you mean --mcp?'],
    [['tools', 'call'], "missing required argument 'name'"],
    [['tools', 'call', 'echo', '--timeout', 'soon'], '--timeout'],
    [['serve', '--port', '99999'], '0 to 65535'],
    [['doctor', '--log-level', 'loud'], 'debug, info, warn, error, silent'],
    [['config', 'schema', 'other'], 'config and mcp'],
    [['guides', 'list', 'extra'], 'too many arguments'],
    [['tools'], 'Usage: gantry tools'],
    [[], 'Usage: gantry'],
  ])('%j is refused with exit code 2', async (argv, part) => {
    const { code, out, err, steps } = await run(argv);
    expect([code, out, steps]).toEqual([2, '', []]);
    expect(err).toContain(part);
  });

  it('is told as one JSON document too when that was asked for', async () => {
    expect(await json(['tools', 'lst'])).toEqual([
      2,
      { error: { code: 'usage', message: expect.stringContaining('lst') } },
    ]);
  });

  it('prints help and version on standard output with exit code 0', async () => {
    expect(await run(['--version'])).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      err: '',
    });
    const { code, out } = await run(['tools', 'call', '--help']);
    expect(code).toBe(0);
    for (const flag of [
      '--args',
      '--session',
      '--timeout',
      '--config',
      '--mcp',
      '--data',
      '--log-level',
      '--url',
      '--json',
    ])
      expect(out).toContain(flag);
  });
});

describe('tools', () => {
  it('are listed once the servers had their chance, and everything is stopped', async () => {
    const { code, out, err, steps } = await run(['tools', 'list']);
    expect([code, err, steps]).toEqual([0, '', ['start', 'ready', 'stop']]);
    expect(out).toBe('NAME  SOURCE  DESCRIPTION\necho  test    Gives back.\n');
  });

  it('are listed for programs', async () => {
    expect(await json(['tools', 'list', '--source', 'test'])).toMatchObject([0, { tools: [{ name: 'echo' }] }]);
    expect(await json(['tools', 'list', '--source', 'none'])).toEqual([0, { tools: [] }]);
  });

  it('are shown', async () => {
    const { code, out } = await run(['tools', 'show', 'echo']);
    expect(code).toBe(0);
    expect(out).toMatch(/^echo\nsource: test\noffered now: yes\n\nGives back\.\n\narguments\n\{/);
    expect(await json(['tools', 'show', 'ecko'])).toEqual([
      1,
      { error: { code: 'tool_not_found', message: 'There is no tool named "ecko". Did you mean echo?' } },
    ]);
  });

  it('that are there already are called without waiting for servers', async () => {
    const { code, out, err, steps } = await run([
      'tools',
      'call',
      'echo',
      '--args',
      '{"text":"hi"}',
      '--session',
      's1',
    ]);
    expect([code, out]).toEqual([0, 'hi in session/s1\n']);
    expect(err).toBe('1/2 half\n');
    expect(steps).toEqual(['start', 'stop']);
    expect((await run(['tools', 'call', 'other__x'])).steps).toEqual(['start', 'ready', 'stop']);
  });

  it.each([
    ['call', 'wiki__x'],
    ['show', 'wiki__x'],
  ])('of a server wait for that server only, and say when it is down: tools %s', async (verb, name) => {
    const { code, err, steps } = await run(['tools', verb, name]);
    expect([code, steps]).toEqual([1, ['start', 'ready wiki', 'stop']]);
    expect(err).toContain('Server "wiki" is down: refused.');
  });

  it('take arguments from standard input', async () => {
    const { code, out } = await run(['tools', 'call', 'echo', '--args', '-'], { stdin: '{"text":"from stdin"}' });
    expect([code, out]).toEqual([0, 'from stdin in no session\n']);
  });

  it.each([
    [['tools', 'call', 'ecko'], 'tool_not_found'],
    [['tools', 'call', 'echo'], 'invalid_arguments'],
    [['tools', 'call', 'echo', '--args', '{"text":1,"x":'], 'invalid_arguments'],
  ])('that fail are results of the call: %j', async (argv, code) => {
    expect(await json(argv)).toMatchObject([1, { status: 'failed', isError: true, error: { code } }]);
    const forPeople = await run(argv);
    expect([forPeople.code, forPeople.out]).toEqual([1, '']);
    expect(forPeople.err).not.toBe('');
  });

  it('do not steer the terminal with what they say, and reach a pipe as they are', async () => {
    const argv = ['tools', 'call', 'echo', '--args', '{"text":"\\u001b[31mred\\u001b[0m"}'];
    expect((await run(argv)).out).toContain('\u001b[31mred');
    expect((await run(argv, { stdout: { isTTY: true, columns: 80 } })).out).toBe('[31mred[0m in no session\n');
  });
});

describe('servers', () => {
  it('are listed with their states; refreshing one that stays down exits 1', async () => {
    expect(await json(['servers', 'list'])).toEqual([0, { servers: [server] }]);
    expect(await json(['servers', 'refresh', 'wiki'])).toEqual([1, { servers: [server] }]);
    expect((await run(['servers', 'list'])).out).toMatch(/^NAME {2}STATE .*\nwiki {2}unreachable .* refused\n$/);
  });

  const hangs = { ...server, name: 'hangs', state: 'connecting', lastError: undefined } as const;
  it.each([[['servers', 'list']], [['tools', 'list']], [['tools', 'find', 'x']], [['tools', 'call', 'nobody__x']]])(
    'that do not answer are waited for 3 s at most, and named: %j',
    async (argv) => {
      const ready = async (clock: FakeClock): Promise<void> => {
        await clock.advance(3000);
        await new Promise(() => {});
      };
      const { err, out, steps } = await run(argv, { servers: [server, hangs], ready });
      expect(steps).toEqual(['start', 'stop']);
      expect(err).toContain('no answer yet from these MCP servers: hangs\n');
      if (argv[0] === 'servers') expect(out).toContain('connecting');
    },
  );

  it('are refreshed and shown without waiting for others', async () => {
    expect((await run(['servers', 'refresh', 'wiki'])).steps).toEqual(['start', 'stop']);
    expect((await run(['servers', 'show', 'wiki'])).steps).toEqual(['start', 'ready wiki', 'stop']);
  });

  it.each([
    [['servers', 'list']],
    [['servers', 'show', 'wiki']],
    [['servers', 'refresh']],
    [['tools', 'list']],
    [['tools', 'find', 'x']],
    [['tools', 'call', 'wiki__x']],
  ])('whose file cannot be read are no empty list: %j', async (argv) => {
    const world = { servers: [], configError: '/x/mcp.json:3:7: not valid JSON' };
    expect(await run(argv, world)).toMatchObject({
      code: 2,
      out: '',
      err: 'gantry: /x/mcp.json:3:7: not valid JSON\n',
    });
    expect((await run(['tools', 'call', 'echo', '--args', '{"text":"hi"}'], world)).code).toBe(0);
  });

  it.each([
    ['servers', { servers: [server] }],
    ['tools', { tools: [] }],
  ])('whose file the gateway cannot read are listed with what is wrong with it: %s', async (group, list) => {
    const configError = '/x/mcp.json:3:7: not valid JSON';
    const gateway = createServer((_request, response) => void response.end(JSON.stringify({ ...list, configError })));
    await once(gateway.listen(0, '127.0.0.1'), 'listening');
    const { port } = gateway.address() as AddressInfo;
    const argv = [group, 'list', '--url', `http://127.0.0.1:${port}`];
    expect(await run(argv)).toMatchObject({ code: 0, err: `The file of servers cannot be read: ${configError}\n` });
    expect(await json(argv)).toEqual([0, { ...list, configError }]);
    gateway.closeAllConnections();
    gateway.close();
  });

  it('are shown', async () => {
    expect(await json(['servers', 'show', 'wiki'])).toMatchObject([0, { server, identity: null, tools: [] }]);
    expect((await run(['servers', 'show', 'wiki'])).out).toContain('state: unreachable\nlast error: refused\n');
    expect(await json(['servers', 'show', 'wikki'])).toMatchObject([1, { error: { code: 'server_unknown' } }]);
  });

  it.each([
    [
      ['add', 'wiki', '--url', 'https://w.example/mcp', '--header', 'x-a=1', '--header', 'Authorization: Bearer ${T}'],
      ['add', 'wiki', { url: 'https://w.example/mcp', headers: { 'x-a': '1', Authorization: 'Bearer ${T}' } }],
    ],
    [
      ['add', 'wiki', '--', 'npx', '-y', 'server', '--json'],
      ['add', 'wiki', { command: 'npx', args: ['-y', 'server', '--json'] }],
    ],
    [
      ['add', 'reader', '--url', 'https://r.example/mcp', '--family', 'url_fetcher'],
      ['add', 'reader', { url: 'https://r.example/mcp', family: 'url_fetcher' }],
    ],
    [
      ['remove', 'wiki'],
      ['remove', 'wiki'],
    ],
    [
      ['enable', 'wiki'],
      ['setEnabled', 'wiki', true],
    ],
    [
      ['disable', 'wiki'],
      ['setEnabled', 'wiki', false],
    ],
    [
      ['login', 'wiki'],
      ['finish', 's', 'c'],
    ],
  ])('are changed without waiting for the others: %j', async (words, edit) => {
    edits.length = 0;
    const { code, err, steps } = await run(['servers', ...words]);
    expect([code, err]).toEqual([0, expect.stringMatching(words[0] === 'login' ? /as\.example/ : /^$/)]);
    expect(steps).toEqual(['start', 'stop']);
    expect(edits).toEqual([edit]);
  });

  it.each([
    [['add', 'wiki'], 'either "--url URL"'],
    [['add', 'wiki', '--url', 'https://w.example', '--', 'node'], 'either "--url URL"'],
    [['add', 'wiki', '--header', 'a=b', '--', 'node'], '"--header" goes with'],
    [['add', 'wiki', '--url', 'https://w.example', '--header', 'nothing'], 'NAME=VALUE'],
    [['add', 'wiki', '--url', 'https://w.example', '--family', 'mail'], 'Allowed choices are url_fetcher, web_search'],
    [['login', 'wiki', '--port', 'x'], '0 to 65535'],
  ])('are not changed by wrong words: %j', async (words, problem) => {
    const { code, err } = await run(['servers', ...words]);
    expect([code, err]).toEqual([2, expect.stringContaining(problem)]);
  });
});

describe('schedule', () => {
  it.each([
    [['--prompt', 'p'], 'either "--cron EXPR"'],
    [['--cron', '0 9 * * *', '--at', '2026-05-01T09:00:00', '--prompt', 'p'], 'either "--cron EXPR"'],
    [['--cron', '0 9 * * *'], 'either "--prompt TEXT"'],
    [['--cron', '0 9 * * *', '--prompt', 'p', '--tool', 'echo'], 'either "--prompt TEXT"'],
    [['--cron', '0 9 * * *', '--prompt', 'p', '--args', '{}'], '"--args" goes with'],
    [['--cron', '0 9 * * *', '--tool', 'echo', '--args', '{'], '"--args" is not JSON'],
    [['--cron', '0 9 * * *', '--tool', 'echo', '--args', '[1]'], '"--args" is no JSON object'],
    [['--cron', '0 9 * * *', '--prompt', 'p', '--missed', 'all'], 'skip, once'],
  ])('is not changed by wrong words: %j', async (words, problem) => {
    const { code, err, steps } = await run(['schedule', 'add', 'x', ...words]);
    expect([code, err, steps]).toEqual([2, expect.stringContaining(problem), []]);
  });
});

it('shows guides without waiting for servers', async () => {
  const { code, out, steps } = await run(['guides', 'list']);
  expect([code, out, steps]).toEqual([0, 'There are no guides.\n', ['start', 'stop']]);
  expect(await json(['guides', 'show', 'x'])).toMatchObject([1, { error: { code: 'guide_unknown' } }]);
});

describe('configuration', () => {
  it('comes from flags over environment over file', async () => {
    writeFileSync(
      join(cwd, 'gantry.config.json'),
      '{"dataDir": "a", "agent": "filed", "mcp": {"configPath": "f.json"}}',
    );
    const env = { GANTRY_DATA: 'b', GANTRY_MCP__CONFIGPATH: 'e.json' };
    const { configs } = await run(['tools', 'list', '--data', 'c'], { env });
    expect(configs).toMatchObject([{ dataDir: 'c', agent: 'filed', mcp: { configPath: 'e.json' } }]);
  });

  it('that is right is said to be so', async () => {
    expect(await json(['config', 'check'])).toEqual([
      0,
      { ok: true, file: null, mcpFile: join(cwd, 'mcp.json'), problems: [], warnings: [] },
    ]);
  });

  it('is checked: every problem has its file, line, path and fix, and the exit code is 2', async () => {
    const file = join(cwd, 'gantry.config.json');
    writeFileSync(file, '{\n  // port\n  "serve": {\n    "prt": 1,\n    "port": 99999\n  }\n}\n');
    expect(await json(['config', 'check'])).toMatchObject([
      2,
      {
        ok: false,
        problems: expect.arrayContaining([
          expect.objectContaining({ source: file, path: 'serve.port', line: 5, column: 5 }),
          expect.objectContaining({
            source: file,
            path: 'serve.prt',
            line: 4,
            message: expect.stringContaining('did you mean "port"?'),
          }),
        ]),
      },
    ]);
    expect((await run(['config', 'check'])).out).toContain(`${file}:4:5: serve.prt: there is no such setting`);
    const started = await run(['tools', 'list']);
    expect([started.code, started.steps]).toEqual([2, []]);
    expect(started.err).toContain('serve.prt');
  });

  it.each([
    ['{"mcpServers": {\n  "a" {}\n}}', { line: 2, column: 7 }],
    ['{\n "mcpServers": {\n  "a": {\n   "url": "nonsense"}}}', { line: 4, path: 'mcpServers.a.url' }],
    ['{"servers": {}}', { message: expect.stringContaining('mcpServers') }],
    [
      '{"mcpServers": {\n  "b": {}}}',
      { line: 2, column: 3, path: 'mcpServers.b', message: expect.stringContaining('neither a "url" nor a "command"') },
    ],
    ['{"mcpServers": {"b": {"type": "stdio"}}}', { message: expect.stringContaining('has no "command"') }],
  ])('is checked together with the file of servers: %j', async (text, problem) => {
    writeFileSync(join(cwd, 'mcp.json'), text);
    expect(await json(['config', 'check'])).toMatchObject([
      2,
      { problems: [{ source: join(cwd, 'mcp.json'), ...problem }] },
    ]);
    expect((await run(['config', 'check'])).out).toContain('mcp.json');
  });

  it('is warned about keys that stand twice, in both files', async () => {
    const [config, servers] = [join(cwd, 'gantry.config.json'), join(cwd, 'mcp.json')];
    writeFileSync(config, '{\n "agent": "a",\n "agent": "b"\n}');
    writeFileSync(
      servers,
      '{"mcpServers": {\n "a": {"url": "https://a.example"},\n  "a": {"url": "https://b.example"}}}',
    );
    expect(await json(['config', 'check'])).toMatchObject([
      0,
      {
        ok: true,
        problems: [],
        warnings: [
          { source: config, path: 'agent', line: 3, column: 2, message: expect.stringContaining('"agent"') },
          { source: servers, path: 'mcpServers.a', line: 3, column: 3, message: expect.stringContaining('"a"') },
        ],
      },
    ]);
    expect((await run(['config', 'check'])).err).toContain(`warning: ${config}:3:2: agent: the key "agent"`);
  });

  it('needs the file of servers that the command line names, unless the command makes it', async () => {
    for (const argv of [['tools', 'list'], ['serve'], ['config', 'check'], ['mcp']])
      expect(await run([...argv, '--mcp', 'none.json'])).toMatchObject({ code: 2, steps: [] });
    expect((await run(['tools', 'list', '--mcp', 'none.json'])).err).toContain(join(cwd, 'none.json'));
    expect((await run(['servers', 'add', 'x', '--url', 'https://x.example', '--mcp', 'none.json'])).code).toBe(0);
  });

  it('names the environment variable or the flag that is wrong', async () => {
    const wrong = await run(['config', 'check'], { env: { GANTRY_SERVE__PORT: 'many' } });
    expect([wrong.code, wrong.out]).toEqual([2, expect.stringContaining('GANTRY_SERVE__PORT')]);
    const missing = await run(['config', 'check', '--config', 'none.json']);
    expect([missing.code, missing.out]).toEqual([2, expect.stringContaining('none.json')]);
  });

  it('is printed with secrets masked, and nothing is started for it', async () => {
    const { code, out, steps } = await run(['config', 'print'], { env: { GANTRY_TOKEN: 'averyveryverysecrettoken' } });
    expect([code, steps]).toEqual([0, []]);
    expect(JSON.parse(out)).toMatchObject({ agent: 'gantry', serve: { port: 7420, token: '***' } });
  });

  it.each([
    [['config', 'schema'], 'serve'],
    [['config', 'schema', 'config'], 'serve'],
    [['config', 'schema', 'mcp'], 'mcpServers'],
  ])('%j prints a JSON Schema', async (argv, property) => {
    expect(await json(argv)).toMatchObject([0, { type: 'object', properties: { [property]: {} } }]);
  });
});

describe('init', () => {
  it('writes two files that pass the check, with schemas for editors', async () => {
    expect(await json(['init'])).toEqual([
      0,
      { written: [join(cwd, 'gantry.config.json'), join(cwd, 'mcp.json')], kept: [] },
    ]);
    for (const file of ['gantry.config.json', 'mcp.json']) {
      const [, schema] = /"\$schema": "([^"]+)"/.exec(readFileSync(join(cwd, file), 'utf8')) ?? [];
      expect(existsSync(join(cwd, schema as string))).toBe(true);
    }
    expect((await run(['config', 'check'])).code).toBe(0);
  });

  it('never overwrites, and says what it left alone', async () => {
    writeFileSync(join(cwd, 'mcp.json'), 'mine');
    expect(await json(['init'])).toEqual([
      0,
      { written: [join(cwd, 'gantry.config.json')], kept: [join(cwd, 'mcp.json')] },
    ]);
    expect(await run(['init'])).toMatchObject({ code: 0, out: expect.stringContaining('Nothing was to be done') });
    expect(readFileSync(join(cwd, 'mcp.json'), 'utf8')).toBe('mine');
  });
});

it('init says in one line where it cannot write, and exits 2', async () => {
  writeFileSync(join(cwd, 'file'), '');
  for (const flag of ['--config', '--mcp', '--data']) {
    const { code, err } = await run(['init', flag, 'file/below']);
    expect([code, err]).toEqual([
      2,
      expect.stringMatching(/^gantry: .*file\/below.* cannot be written \((?:ENOTDIR|EEXIST)\).*\n$/),
    ]);
  }
});

describe('doctor', () => {
  it('looks at the installation and at every server, and exits 1 when something is broken', async () => {
    const [code, report] = await json(['doctor', '--data', 'data'], { env: { GANTRY_SERVE__PORT: '0' } });
    expect(code).toBe(1);
    const { checks } = report as { checks: { name: string; state: string; fix?: string }[] };
    expect(checks.map((check) => check.name)).toEqual([
      'configuration',
      'runtime',
      'data folder',
      'shared folder',
      'encryption key',
      'port',
      'file of servers',
      'server wiki',
    ]);
    expect(checks.filter((check) => check.state === 'broken').map((check) => check.name)).toEqual(['server wiki']);
  });

  it('starts nothing when the configuration or the data folder is broken', async () => {
    writeFileSync(join(cwd, 'file'), '');
    const folder = await run(['doctor', '--data', 'file']);
    expect([folder.code, folder.steps]).toEqual([1, []]);
    expect(folder.out).toContain('is no folder');
    writeFileSync(join(cwd, 'gantry.config.json'), '{');
    const config = await run(['doctor']);
    expect([config.code, config.steps]).toEqual([1, []]);
    expect(config.out).toContain('gantry.config.json:1:2');
  });
});

describe('serve', () => {
  it('says where it listens, how to connect and where servers go, then runs until it is interrupted', async () => {
    const { code, out, err, steps, configs } = await run(['serve', '--port', '0', '--host', '::1'], {
      interrupted: AbortSignal.abort(),
    });
    expect([code, out, steps]).toEqual([0, '', ['serve', 'stop']]);
    expect(configs).toMatchObject([{ serve: { port: 0, host: '::1' } }]);
    const lines = err.trimEnd().split('\n');
    expect(lines).toHaveLength(4);
    expect(lines[0]).toContain('http://127.0.0.1:7420/mcp');
    expect(lines[3]).toContain(join(cwd, 'mcp.json'));
  });

  it('prints its addresses as JSON when asked', async () => {
    expect(await json(['serve'], { interrupted: AbortSignal.abort() })).toEqual([
      0,
      { url: 'http://127.0.0.1:7420', mcp: 'http://127.0.0.1:7420/mcp', api: 'http://127.0.0.1:7420/api/v1' },
    ]);
  });

  it('runs the scripts manager on a port of its own, and says which broker it serves', async () => {
    const argv = ['serve', '--role', 'scripts-manager'];
    const { code, out, err, steps } = await run(argv, { interrupted: AbortSignal.abort() });
    expect([code, out, steps]).toEqual([0, '', ['scripts manager on 8084', 'stop']]);
    expect(err).toBe(
      'The scripts manager is ready: it takes scripts from amqp://mq:5672 (GET http://127.0.0.1:8084/healthz).\n',
    );
    const addresses = { url: 'http://127.0.0.1:8084', broker: 'amqp://mq:5672' };
    expect(await json(argv, { interrupted: AbortSignal.abort() })).toEqual([0, addresses]);
  });

  it.each(['port_in_use', 'data_dir_unwritable', 'data_dir_locked', 'config_invalid', 'store_unavailable'] as const)(
    'says in one line why it cannot start (%s) and exits 2',
    async (reason) => {
      const { code, out, err } = await run(['serve'], { failure: new GantryError(reason, 'Not possible.') });
      expect([code, out, err]).toEqual([2, '', 'gantry: Not possible.\n']);
    },
  );
});

it('serves one client over standard input and output with nothing else printed', async () => {
  const { code, out, err, steps } = await run(['mcp', '--mode', 'eager']);
  expect([code, out, err, steps]).toEqual([0, '', '', ['start', 'stdio eager', 'stop']]);
});

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
])('ends a chat with the number of the signal %s', async (signal, code) => {
  const interrupted = AbortSignal.abort(new GantryError('cancelled', 'Interrupted.', { details: { signal } }));
  const ended = await run(['chat', '--message', 'hi'], { interrupted, failure: new Error('gone') });
  expect(ended).toMatchObject({ code, out: '', err: 'gantry: interrupted\n' });
});

it('exits 130 when it is interrupted', async () => {
  const interrupted = AbortSignal.abort(new GantryError('cancelled', 'Interrupted.'));
  const { code, out, err, steps } = await run(['tools', 'list'], { interrupted });
  expect([code, out, err]).toEqual([130, '', 'gantry: interrupted\n']);
  expect(steps.at(-1)).toBe('stop');
});

it('exits 130 when a call is interrupted, whatever the call makes of that', async () => {
  const interrupted = AbortSignal.abort(new GantryError('cancelled', 'Interrupted.'));
  const { code, out } = await run(['tools', 'call', 'echo', '--args', '{"text": "x"}', '--json'], { interrupted });
  expect([code, out]).toEqual([130, '']);
});

it.each([
  [999, ''],
  [1000, 'Waiting for MCP servers to connect …\n'],
])('says what it waits for when that takes a second (%d ms)', async (elapsedMs, err) => {
  expect(await run(['tools', 'list'], { ready: (clock) => clock.advance(elapsedMs) })).toMatchObject({ code: 0, err });
});

it('exits 1 with one line when something unexpected happens', async () => {
  const { code, out, err } = await run(['tools', 'list'], { failure: new Error('broken') });
  expect([code, out, err]).toEqual([1, '', 'gantry: broken\n']);
});

it.each([
  [{ isTTY: true, columns: 80 }, {}, true],
  [{ isTTY: true, columns: 80 }, { NO_COLOR: '1' }, false],
  [{}, {}, false],
])('colours only a terminal, and not with NO_COLOR (%#)', async (stdout, env, isColoured) => {
  const { out } = await run(['tools', 'list'], { stdout, env });
  expect(out.includes('\u001b[')).toBe(isColoured);
});

describe('what a hostile gateway answers', () => {
  const evil = '\u001b]0;PWNED\u0007\u001b[2J\u009b31m\u202e';
  const steers = /(?![\n\t])\p{Cc}|[\u202a-\u202e]/u;
  const answering = async (status: number, body: unknown) => {
    const gateway = createServer((_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    );
    gateway.listen(0, '127.0.0.1');
    await once(gateway, 'listening');
    return {
      url: `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`,
      [Symbol.dispose]: () => void gateway.close(),
    };
  };
  const refusal = { error: { code: `bad${evil}`, message: `no ${evil}` } };
  const tools = {
    tools: [{ name: `a${evil}`, source: evil, description: evil, available: true }],
    configError: `broken ${evil}`,
  };
  const tool = { ...tools.tools[0], inputSchema: { evil }, title: evil };

  it.each([
    ['an error', 500, refusal, ['tools', 'list']],
    ['an error to a program', 500, refusal, ['tools', 'list', '--json']],
    ['a list', 200, tools, ['tools', 'list']],
    ['a list to a program', 200, tools, ['tools', 'list', '--json']],
    ['a tool', 200, tool, ['tools', 'show', 'a']],
    ['a call', 200, { content: evil, isError: false }, ['tools', 'call', 'a']],
    ['a call that failed', 200, { content: evil, isError: true }, ['tools', 'call', 'a']],
  ])('does not steer a terminal: %s', async (_what, status, body, argv) => {
    using gateway = await answering(status, body);
    const { out, err } = await run([...argv, '--url', gateway.url], { stdout: { isTTY: true, columns: 80 } });
    const shown = (out + err).replaceAll(/\p{Cc}\[(?:1|22)m/gu, '');
    expect(shown).not.toBe('');
    expect(shown).not.toMatch(steers);
  });
});
