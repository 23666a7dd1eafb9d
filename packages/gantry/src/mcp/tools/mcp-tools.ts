import type { Bus } from '../../bus/bus.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { GuideShelf } from '../../tool/guide.ts';
import type { ToolRegistry } from '../../tool/registry.ts';
import type { ManageClient } from './manage-client.ts';
import { createManageClient } from './manage-client.ts';
import { mcpGuide } from './mcp-guide.ts';
import type { ServerIndex } from './server-index.ts';
import { createServerIndex } from './server-index.ts';
import { createToolProxy } from './tool-proxy.ts';
import type { TypedToolCatalog } from './typed-tool-catalog.ts';
import { createTypedToolCatalog } from './typed-tool-catalog.ts';

/** What the agent side of MCP works with. */
export interface McpToolsOptions {
  readonly bus: Bus;
  readonly agent: string;
  readonly registry: ToolRegistry;
  readonly guides: GuideShelf;
  readonly clock: Clock;
  readonly log: Log;
  /** See `ToolProxyOptions`. */
  readonly requestTimeoutMs?: number | undefined;
  /** See `ToolProxyOptions`. */
  readonly responseWaitMs?: number | undefined;
  /** Registers typed tools for everybody. Default true. */
  readonly registersTypedTools?: boolean | undefined;
}

/** The agent side of MCP: servers become tools of the registry, and their calls go to the bridge. */
export interface McpTools extends AsyncDisposable {
  readonly index: ServerIndex;
  /** Asks the bridge about its servers. */
  readonly manage: ManageClient;
  readonly catalog: TypedToolCatalog;
}

/** Starts the agent side and adds its guide. Start it before the bridge, whose announcements are not repeated. */
export const createMcpTools = async (options: McpToolsOptions): Promise<McpTools> => {
  const { registry, guides, log, registersTypedTools = true } = options;
  await using started = new AsyncDisposableStack();
  const proxy = started.use(createToolProxy(options));
  const manage = started.use(createManageClient(options));
  const index = started.use(await createServerIndex(options));
  const catalog = started.use(
    createTypedToolCatalog({
      index,
      details: manage.details,
      executor: proxy.executor,
      log,
      registry: registersTypedTools ? registry : undefined,
    }),
  );
  guides.add(mcpGuide(index.list));
  const running = started.move();
  return { index, manage, catalog, [Symbol.asyncDispose]: () => running.disposeAsync() };
};
