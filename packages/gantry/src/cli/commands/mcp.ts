import type { FaceMode } from '../../mcp/face/face-mode.ts';
import type { CliIo } from '../cli-io.ts';
import type { Command } from '../command-context.ts';
import type { GatewayAddress } from '../gateway.ts';
import { findOwner, namedGateway, startLocal } from '../gateway.ts';
import { loadSettings } from '../settings.ts';
import { untilInterrupted } from '../until-interrupted.ts';

/** `gantry mcp`: one MCP client over standard input and output, until it goes away. */
export const runMcp: Command<[{ mode?: FaceMode }]> = async (context, { mode }) => {
  const named = namedGateway(context);
  if (named) return proxy(named, mode, context.io);
  const settings = await loadSettings(context);
  const owner = await findOwner(settings);
  if (owner) return proxy(owner, mode, context.io);
  await using local = await startLocal(context, settings);
  await Promise.race([local.serveStdio(mode), untilInterrupted(context.io.interrupted)]);
  return 0;
};

const proxy = async ({ url, token }: GatewayAddress, mode: FaceMode | undefined, io: CliIo): Promise<0> => {
  const { proxyStdio } = await import('../proxy-stdio.ts');
  const endpoint = new URL(`${url}/mcp`);
  if (mode !== undefined) endpoint.searchParams.set('mode', mode);
  await using connection = await proxyStdio(endpoint, {
    token,
    onLost: (reason) => void io.stderr.write(`gantry: a message did not reach the gateway: ${reason}\n`),
  });
  await Promise.race([connection.closed, untilInterrupted(io.interrupted)]);
  return 0;
};
