import type { FaceMode } from '../mcp/face/face-mode.ts';
import type { OperationDeps } from '../operations/operation-deps.ts';
import type { AssembleOptions } from './assemble.ts';
import { assemble } from './assemble.ts';
import type { GantryConfig } from './config/config-schema.ts';

/** A Gantry inside this process, for one command. Disposing stops it. */
export interface LocalGantry extends AsyncDisposable {
  readonly deps: OperationDeps;
  /** Resolves when every server, or this one, had its first attempt to connect. */
  ready(server?: string): Promise<void>;
  /** Serves one MCP client over standard input and output; resolves when it has gone. */
  serveStdio(mode?: FaceMode): Promise<void>;
}

/** Starts what a command needs when no gateway runs. */
export const startLocal = async (config: GantryConfig, options: AssembleOptions): Promise<LocalGantry> => {
  const assembled = await assemble(config, options);
  return {
    deps: assembled.deps,
    ready: (server) => assembled.servers.ready(server),
    serveStdio: async (mode) => {
      await using connection = assembled.face.serveStdio({ mode });
      await connection.closed;
    },
    [Symbol.asyncDispose]: () => assembled[Symbol.asyncDispose](),
  };
};
