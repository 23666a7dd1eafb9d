import type { LocalGantry } from '../host/start-local.ts';
import { delay, orAborted } from '../kernel/abort.ts';
import { GantryError } from '../kernel/errors.ts';
import { serverOfTool } from '../operations/server-of-tool.ts';
import { operatorContext } from '../operations/tools.ts';
import type { CliIo } from './cli-io.ts';
import { tellPerson } from './output/tell-person.ts';

/**
 * What a command needs of the servers before its operation can run: nothing, that their file can be read, all of them, one, or the one of
 * a tool.
 */
export type NeededServers = 'none' | 'file' | 'all' | { readonly server: string } | { readonly tool: string };

const quietMs = 1000;
const patienceMs = 3000;

/**
 * Waits for the servers that are needed. A server that is known by name gets its whole first attempt to connect; for all of them 3 s
 * have to do, and those that have not answered by then are named on standard error.
 * @throws {GantryError} `config_invalid` when the file of servers cannot be read; the reason of the interruption.
 */
export const awaitServers = async (needed: NeededServers, local: LocalGantry, io: CliIo): Promise<void> => {
  if (needed === 'none') return;
  const { servers, toolsets } = local.deps;
  const isTool = typeof needed === 'object' && 'tool' in needed;
  if (isTool && toolsets.find(needed.tool, operatorContext)) return;
  const configError = servers?.configError?.();
  if (configError !== undefined) throw new GantryError('config_invalid', configError);
  if (needed === 'file') return;
  const all = servers?.list() ?? [];
  const one = isTool
    ? serverOfTool(needed.tool, all)
    : typeof needed === 'object'
      ? all.find(({ name }) => name === needed.server)
      : undefined;
  if (one) return untilReady(io, local.ready(one.name));
  using patience = giveUp();
  await untilReady(io, Promise.race([local.ready(), delay(io.clock, patienceMs, patience.signal)]));
  const silent = (servers?.list() ?? []).filter(({ state }) => state === 'connecting').map(({ name }) => name);
  if (silent.length > 0) tellPerson(io, `gantry: no answer yet from these MCP servers: ${silent.join(', ')}`);
};

/** Waits for servers, and says so when that takes a while. */
export const untilReady = async (io: CliIo, ready: Promise<void>): Promise<void> => {
  const timer = io.clock.startTimer(quietMs, () => void io.stderr.write('Waiting for MCP servers to connect …\n'));
  try {
    await orAborted(ready, io.interrupted);
  } finally {
    timer.stop();
  }
};

const giveUp = (): { readonly signal: AbortSignal } & Disposable => {
  const controller = new AbortController();
  return { signal: controller.signal, [Symbol.dispose]: () => controller.abort() };
};
