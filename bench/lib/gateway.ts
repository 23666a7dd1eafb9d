import { mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Measured } from './process.ts';
import { startNode, untilReady } from './process.ts';

/** The built gateway under measurement. */
export interface MeasuredGateway extends Measured {
  readonly url: string;
  /** Spawn until `/readyz` says yes, milliseconds. */
  readonly readyMs: number;
}

/** A port that is free now. */
export const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once('error', reject).listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });

/** The command of the build. */
export const entry: string = fileURLToPath(new URL('../../packages/gantry/dist/cli/main.js', import.meta.url));

/** A folder for a gateway, which is gone when it is disposed. */
export const makeFolder = (): AsyncDisposable & { readonly path: string } => {
  const path = mkdtempSync(join(tmpdir(), 'gantry-bench-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
};

/** An entry of mcp.json: an address, or more. */
export type BenchServer = string | Readonly<Record<string, unknown>>;

/**
 * Starts the build of `gantry serve` over the given servers, and waits until it is ready: in a folder of its own, or in one where it may have
 * run before.
 */
export const startGateway = async (
  servers: Readonly<Record<string, BenchServer>>,
  given?: { readonly path: string },
): Promise<MeasuredGateway> => {
  const own = given ? undefined : makeFolder();
  const cwd = (given ?? own)?.path ?? '';
  const mcpServers = Object.fromEntries(
    Object.entries(servers).map(([name, entry]) => [name, typeof entry === 'string' ? { url: entry } : entry]),
  );
  writeFileSync(join(cwd, 'mcp.json'), JSON.stringify({ mcpServers }));
  const port = await freePort();
  const child = startNode(
    ['--enable-source-maps=false', entry, 'serve', '--port', String(port), '--log-level', 'warn'],
    {
      cwd,
      env: { HOME: cwd, XDG_CONFIG_HOME: cwd, NODE_COMPILE_CACHE: join(tmpdir(), 'gantry-bench-cache') },
    },
  );
  const url = `http://127.0.0.1:${port}`;
  const ready = async (): Promise<void> => {
    const response = await fetch(`${url}/readyz`);
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`not ready: ${response.status}`);
  };
  try {
    const readyMs = await untilReady(ready);
    return {
      ...child,
      url,
      readyMs,
      [Symbol.asyncDispose]: async () => {
        await child[Symbol.asyncDispose]();
        await own?.[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await child[Symbol.asyncDispose]();
    throw new Error(`the gateway did not start: ${child.output()}`, { cause: error });
  }
};

/** Starts a proxy that does nothing but parse and forward to the address. */
export const startBareProxy = async (address: string): Promise<Measured & { readonly url: string }> => {
  const child = startNode([fileURLToPath(new URL('bare-proxy.ts', import.meta.url)), address]);
  return { ...child, url: `http://127.0.0.1:${await portOf(child)}` };
};

/** Starts the cheap upstream and gives the address of each of its servers. */
export const startUpstream = async (
  servers: number,
  toolsPerServer: number,
): Promise<Measured & { address(name: number | 'hang'): string }> => {
  const child = startNode([
    fileURLToPath(new URL('upstream.ts', import.meta.url)),
    String(servers),
    String(toolsPerServer),
  ]);
  const port = await portOf(child);
  return { ...child, address: (name) => `http://127.0.0.1:${port}/s/${name}/mcp` };
};

/** The port that a program says it listens on. */
const portOf = async (child: Measured): Promise<string> => {
  let port: string | undefined;
  await untilReady(async () => {
    port = /listening on (\d+)/.exec(child.output())?.[1];
    if (port === undefined) throw new Error('the program has not started');
  });
  return port ?? '';
};
