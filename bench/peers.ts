import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, makeFolder, startGateway, startUpstream } from './lib/gateway.ts';
import type { MeasuredCalls } from './lib/measure-calls.ts';
import { callOf, measureCalls } from './lib/measure-calls.ts';
import type { Measured } from './lib/process.ts';
import { memoryOf, startNode, untilReady } from './lib/process.ts';
import type { RawClient } from './lib/raw-client.ts';
import { connectRaw } from './lib/raw-client.ts';
import { show } from './lib/stats.ts';

/** A gateway or proxy from the npm registry. */
interface Peer {
  /** Package and version. */
  readonly package: string;
  /** Its program, inside the package. */
  readonly program: string;
  /** What it puts in front: a server over HTTP, or a program. */
  readonly of: 'http' | 'stdio';
  readonly tool: string;
  /** How it is started, once for each of its processes. */
  commands(place: Place): readonly (readonly string[])[];
  readonly env?: (place: Place) => Readonly<Record<string, string>>;
}

interface Place {
  readonly port: string;
  readonly folder: string;
  readonly upstream: string;
}

const program = fileURLToPath(new URL('lib/upstream.ts', import.meta.url));
const stdio = [process.execPath, program, 'stdio', '25'];

const peers: readonly Peer[] = [
  {
    package: '@civic/passthrough-mcp-server@0.12.1',
    program: 'dist/cli.js',
    of: 'http',
    tool: 'echo',
    commands: () => [[]],
    env: ({ port, upstream }) => ({
      PORT: port,
      TARGET_SERVER_URL: new URL(upstream).origin,
      TARGET_SERVER_TRANSPORT: 'httpStream',
      LOG_LEVEL: 'error',
    }),
  },
  {
    package: 'mcporter@0.12.3',
    program: 'dist/cli.js',
    of: 'http',
    tool: 'up__echo',
    commands: ({ port, folder, upstream }) => {
      const config = join(folder, 'mcporter.json');
      const server = { baseUrl: upstream, lifecycle: 'keep-alive' };
      writeFileSync(config, JSON.stringify({ imports: [], mcpServers: { up: server } }));
      return [
        ['daemon', 'start', '--foreground', '--config', config],
        ['serve', '--http', port, '--config', config],
      ];
    },
    env: ({ folder }) => ({ MCPORTER_CONFIG: join(folder, 'mcporter.json') }),
  },
  {
    package: 'mcp-proxy@6.7.19',
    program: 'dist/bin/mcp-proxy.mjs',
    of: 'stdio',
    tool: 'echo',
    commands: ({ port }) => [['--port', port, '--host', '127.0.0.1', '--', ...stdio]],
  },
  {
    package: 'supergateway@4.0.0',
    program: 'dist/index.js',
    of: 'stdio',
    tool: 'echo',
    commands: ({ port }) => [
      [
        '--stdio',
        stdio.map((word) => JSON.stringify(word)).join(' '),
        '--outputTransport',
        'streamableHttp',
        '--port',
        port,
        '--logLevel',
        'none',
        '--stateful',
      ],
    ],
  },
];

/** One call through Gantry and through other gateways from the npm registry, each beside the same call made directly. Installs them on first use. */
export const benchPeers = async (): Promise<string[]> => {
  await using upstream = await startUpstream(1, 25);
  const address = upstream.address(0);
  const rows = [
    '| | in front of | ready | p50, one at a time | of direct | calls/s, 16 in flight | of direct | CPU a call | resident after |',
    '|---|---|---|---|---|---|---|---|---|',
  ];
  const add = (name: string, of: string, readyMs: number, pids: readonly number[], calls: MeasuredCalls): void => {
    const { direct, through, cpuMs } = calls;
    const memory = pids.reduce((sum, pid) => sum + memoryOf(pid).rssMb, 0);
    rows.push(
      `| ${name} | ${of} | ${show(readyMs)} ms | ${show(through.p50)} ms | ${show(through.p50 / direct.p50)} | ${show(through.perSecond)} | ${show((through.perSecond / direct.perSecond) * 100)} % | ${show(cpuMs)} ms | ${show(memory)} MB |`,
    );
  };
  using direct = await connectRaw(address);
  for (const [lane, tool] of [
    ['/mcp/up', 'echo'],
    ['/mcp?mode=eager', 'up__echo'],
  ] as const) {
    await using gateway = await startGateway({ up: address });
    using through = await connectRaw(`${gateway.url}${lane}`);
    const calls = await measureCalls([gateway.pid], callOf(direct, 'echo'), callOf(through, tool));
    add(`Gantry \`${lane.split('?')[0]}\``, 'http', gateway.readyMs, [gateway.pid], calls);
  }
  for (const peer of peers) {
    const measured = await measurePeer(peer, address, direct).catch((error: unknown) => {
      rows.push(`| ${peer.package} | ${peer.of} | failed: ${String(error).split('\n')[0]} | | | | | | |`);
    });
    if (measured) add(peer.package, peer.of, measured.readyMs, measured.pids, measured.calls);
    await measured?.[Symbol.asyncDispose]();
  }
  return rows;
};

const measurePeer = async (
  peer: Peer,
  upstream: string,
  direct: RawClient,
): Promise<
  { readonly readyMs: number; readonly pids: readonly number[]; readonly calls: MeasuredCalls } & AsyncDisposable
> => {
  const entry = install(peer);
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(makeFolder()).path;
  const place: Place = { port: String(await freePort()), folder, upstream };
  const env = { HOME: folder, XDG_CONFIG_HOME: folder, NO_COLOR: '1', ...peer.env?.(place) };
  const processes: Measured[] = peer
    .commands(place)
    .map((args) => stack.use(startNode([entry, ...args], { cwd: folder, env })));
  let through: RawClient | undefined;
  const readyMs = await untilReady(async () => {
    through = await connectRaw(`http://127.0.0.1:${place.port}/mcp`);
  });
  if (!through) throw new Error('not connected');
  stack.use(through);
  const pids = processes.map(({ pid }) => pid);
  const calls = await measureCalls(pids, callOf(direct, 'echo'), callOf(through, peer.tool));
  const kept = stack.move();
  return { readyMs, pids, calls, [Symbol.asyncDispose]: () => kept.disposeAsync() };
};

/** Installs a package into a folder of its own below the system's folder for temporary files, without its scripts. */
const install = ({ package: spec, program: inside }: Peer): string => {
  const name = spec.slice(0, spec.lastIndexOf('@'));
  const folder = join(tmpdir(), 'gantry-bench-peers', spec.replaceAll(/[^\w.@-]/g, '_'));
  const entry = join(folder, 'node_modules', name, inside);
  if (existsSync(entry)) return entry;
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}');
  execFileSync('npm', ['install', spec, '--no-audit', '--no-fund', '--ignore-scripts', '--silent'], {
    cwd: folder,
    stdio: 'pipe',
  });
  return entry;
};
