import { join } from 'node:path';
import type { Bus } from '../../bus/bus.ts';
import { createPrepareArguments } from '../../invoke/prepare-arguments.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { createSchemaValidator } from '../../schema/validate.ts';
import type { Store } from '../../store/store.ts';
import type { Tool, ToolExecutor } from '../../tool/executor.ts';
import type { EmbeddingModel } from '../../tool/embedding-model.ts';
import type { ServerSummary } from '../wire/index-message.ts';
import type { GuideShelf } from '../../tool/guide.ts';
import type { ToolRegistry } from '../../tool/registry.ts';
import type { Notify } from '../../tool/ports.ts';
import type { FitTool } from '../../tool/typed-tools.ts';
import type { KnowsServer } from './knows-server.ts';
import type { ManageClient } from './manage-client.ts';
import { createManageClient } from './manage-client.ts';
import { listenForLateResults } from './late-notices.ts';
import { answerQuestion } from './management/answer-question.ts';
import { cancelTask } from './management/cancel-task.ts';
import { promptExecutor } from './management/get-prompt.ts';
import { managementTools } from './management/management-tools.ts';
import { createVisibility } from './management/visibility.ts';
import { mcpGuide } from './mcp-guide.ts';
import { fileDefaults } from './recovery/file-defaults.ts';
import { createRecentCalls } from './recovery/recent-calls.ts';
import { currentTimeProvider, timeZoneProvider } from './recovery/time-providers.ts';
import { withRecovery } from './recovery/with-recovery.ts';
import type { ServerIndex } from './server-index.ts';
import { createServerIndex } from './server-index.ts';
import { createToolProxy } from './tool-proxy.ts';
import type { Catalog } from './typed/catalog.ts';
import { createCatalog } from './typed/catalog.ts';
import type { ModeSettings } from './typed/modes.ts';
import { createModes } from './typed/modes.ts';
import type { Surface, SurfaceLimits } from './typed/surfaces.ts';
import { createSimilarTools } from './typed/similar-tools.ts';
import { createSurfaces } from './typed/surfaces.ts';
import { createToolMeaning } from './typed/tool-meaning.ts';
import type { FamilyServers } from './typed/stand-ins.ts';
import type { ToolSearch } from './typed/tool-search.ts';
import { createToolSearch } from './typed/tool-search.ts';
import type { TypedToolSurface } from './typed/typed-tools.ts';
import { createTypedTools } from './typed/typed-tools.ts';

/** How the tools of servers are offered. */
export interface McpToolsSettings extends ModeSettings, SurfaceLimits {
  /** Tools of servers are added to a model's list only while it holds fewer; default 120. */
  readonly maxToolsPerRequest?: number | undefined;
}

/** What the agent side of MCP works with. */
export interface McpToolsOptions {
  readonly bus: Bus;
  readonly agent: string;
  /** Gets the management tools. Typed tools are not registered: they are a source of their own, {@link McpTools.typed}. */
  readonly registry: ToolRegistry;
  readonly guides: GuideShelf;
  /** Whether a caller may have a tool. */
  readonly fit: FitTool;
  /** Whether a caller may know of a server; default every caller of every one. */
  readonly knows?: KnowsServer | undefined;
  /** Keeps what sessions found, opened and called, and the vectors of tools. */
  readonly store: Pick<Store, 'keyValue'>;
  /** Folder whose `tool-defaults` has the operator's defaults for arguments. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly settings?: McpToolsSettings | undefined;
  /** Which servers take the place of bundled tools; default none. */
  readonly familyServers?: FamilyServers | undefined;
  /** Lets tools be found by what they mean, beside their words. */
  readonly embedding?: EmbeddingModel | undefined;
  /** Tells sessions of results that come late; without it they are only kept in working memory. */
  readonly notify?: Notify | undefined;
  /** See `ToolProxyOptions`. */
  readonly requestTimeoutMs?: number | undefined;
  /** See `ToolProxyOptions`. */
  readonly responseWaitMs?: number | undefined;
}

/** The agent side of MCP: servers become tools, and their calls go to the bridge. */
export interface McpTools extends AsyncDisposable {
  readonly index: ServerIndex;
  /** Asks the bridge about its servers. */
  readonly manage: ManageClient;
  readonly catalog: Catalog;
  readonly search: ToolSearch;
  /** To be offered beside the registry. */
  readonly typed: TypedToolSurface;
}

/**
 * Starts the agent side and adds its guide; the management tools come with the first announcement of servers. Start it before the bridge,
 * whose announcements are not repeated.
 */
export const createMcpTools = async (options: McpToolsOptions): Promise<McpTools> => {
  const { registry, guides, fit, store, dataDir, clock, log, familyServers, settings = {}, knows = knowsAll } = options;
  await using started = new AsyncDisposableStack();
  const proxy = started.use(createToolProxy(options));
  const manage = started.use(createManageClient(options));
  const index = started.use(await createServerIndex(options));
  const modes = createModes(settings);
  const surfaces = createSurfaces({
    ...settings,
    modes,
    keyValue: store.keyValue<Surface>('mcp-surfaces'),
    clock,
    log,
  });
  const recovering = withRecovery(proxy.executor, {
    providers: [
      timeZoneProvider,
      currentTimeProvider(clock),
      fileDefaults({ folder: join(dataDir, 'tool-defaults'), log }),
    ],
    recentCalls: createRecentCalls(clock),
  });
  const isTaken = (name: string): boolean => registry.get(name) !== undefined;

  /** Every call of a server's tool, by whatever name, makes the server one that the session has called. */
  const downstream: ToolExecutor = {
    timeoutMs: 0,
    execute: async (call, context) => {
      try {
        return await recovering.execute(call, context);
      } finally {
        const known = catalog.ofServer(call.registration.target?.server ?? '').find(({ kind }) => kind === 'tool');
        if (known) await surfaces.pin(context, known.server);
      }
    },
  };
  const catalog = started.use(
    createCatalog({
      index,
      details: manage.details,
      toolExecutor: {
        timeoutMs: 0,
        execute: async (call, context) => {
          await typed.noteCall(call.name, context);
          return downstream.execute(call, context);
        },
      },
      promptExecutor: (server, prompt) => {
        const { execute } = promptExecutor(manage)(server, prompt);
        return {
          execute: async (call, context) => {
            await typed.noteCall(call.name, context);
            return execute(call, context);
          },
        };
      },
      log,
      isTaken,
    }),
  );
  const meaning =
    options.embedding &&
    started.use(
      createToolMeaning({ catalog, model: options.embedding, keyValue: store.keyValue('tool-vectors'), clock, log }),
    );
  const search = started.use(createToolSearch(catalog, fit, meaning));
  const similar = createSimilarTools(catalog, fit);
  const typed = createTypedTools({
    ...settings,
    catalog,
    surfaces,
    modes,
    fit,
    knows,
    similar,
    isTaken,
    familyServers,
  });

  const visibility = createVisibility({ index, catalog, fit, knows });
  const tools = managementTools({
    visibility,
    search,
    similar,
    surfaces,
    typed,
    manage,
    prepareArguments: createPrepareArguments(createSchemaValidator()),
    downstream,
  });
  const stopWaiting = index.onMessage(() => {
    stopWaiting();
    for (const { registration } of registry.replace({ remove: [], add: tools }))
      log.warn({ tool: registration.name }, 'a management tool was left out: another tool has its name');
  });
  started.defer(() => {
    stopWaiting();
    const own = tools.filter(({ registration: { name }, executor }) => registry.getExecutor(name) === executor);
    registry.replace({ remove: own.map(({ registration }) => registration.name), add: [] });
  });

  const withServers = [
    { tool: answerQuestion(manage, surfaces), isNeeded: ({ handback }: ServerSummary) => handback },
    { tool: cancelTask(manage), isNeeded: (server: ServerSummary) => server.tasks },
  ];
  const isOffered = ({ registration: { name }, executor }: Tool): boolean => registry.getExecutor(name) === executor;
  started.defer(
    index.onMessage(() => {
      for (const { tool, isNeeded } of withServers) {
        if (isOffered(tool) === index.list().some(isNeeded)) continue;
        if (isOffered(tool)) registry.replace({ remove: [tool.registration.name], add: [] });
        else registry.replace({ remove: [], add: [tool] });
      }
    }),
  );
  started.defer(() => {
    const own = withServers.filter(({ tool }) => isOffered(tool)).map(({ tool }) => tool.registration.name);
    registry.replace({ remove: own, add: [] });
  });
  if (options.notify) started.use(await listenForLateResults({ ...options, notify: options.notify }));

  guides.add(mcpGuide((context) => index.list().filter(({ serverName }) => !context || knows(context, serverName))));
  const running = started.move();
  return { index, manage, catalog, search, typed, [Symbol.asyncDispose]: () => running.disposeAsync() };
};

const knowsAll: KnowsServer = () => true;
