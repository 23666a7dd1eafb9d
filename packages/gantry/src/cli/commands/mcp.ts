import type { FaceMode } from '../../mcp/face/face-mode.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { CliIo } from '../cli-io.ts';
import type { Command } from '../command-context.ts';
import type { GatewayAddress } from '../gateway.ts';
import { findOwner, namedGateway, startLocal } from '../gateway.ts';
import { loadSettings } from '../settings.ts';
import { untilInterrupted } from '../until-interrupted.ts';
import { tellPerson } from '../output/tell-person.ts';

/** What the client is served: the tools of all servers in a mode, or one server as it is. */
interface McpFlags {
  readonly mode?: FaceMode;
  readonly server?: string;
}

/** `gantry mcp`: one MCP client over standard input and output, until it goes away. */
export const runMcp: Command<[McpFlags]> = async (context, flags) => {
  const { mode, server } = flags;
  if (mode !== undefined && server !== undefined)
    throw new GantryError('usage', 'Give --mode or --server: one server has its own tools, whatever the mode.');
  const named = namedGateway(context);
  if (named) return proxy(named, flags, context.io);
  const settings = await loadSettings(context);
  const owner = await findOwner(settings);
  if (owner) return proxy(owner, flags, context.io);
  if (server !== undefined)
    throw new GantryError('usage', '--server passes through the gateway that runs here, and none does: gantry serve');
  await using local = await startLocal(context, settings);
  await Promise.race([local.serveStdio(mode), untilInterrupted(context.io.interrupted)]);
  return 0;
};

const proxy = async ({ url, token }: GatewayAddress, { mode, server }: McpFlags, io: CliIo): Promise<0> => {
  const { proxyStdio } = await import('../proxy-stdio.ts');
  const endpoint = new URL(server === undefined ? `${url}/mcp` : `${url}/mcp/${encodeURIComponent(server)}`);
  if (mode !== undefined) endpoint.searchParams.set('mode', mode);
  await using connection = await proxyStdio(endpoint, {
    token,
    onLost: (reason) => tellPerson(io, `gantry: a message did not reach the gateway: ${reason}`),
  });
  await Promise.race([connection.closed, untilInterrupted(io.interrupted)]);
  return 0;
};
