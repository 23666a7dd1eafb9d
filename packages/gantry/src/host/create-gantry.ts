import { metrics } from '@opentelemetry/api';
import type { Bus } from '../bus/bus.ts';
import { withBusTelemetry } from '../bus/with-bus-telemetry.ts';
import { serveToolInvoke } from '../invoke/bus-handler.ts';
import type { Invoker } from '../invoke/invoker.ts';
import { createInvoker } from '../invoke/invoker.ts';
import { createPrepareArguments } from '../invoke/prepare-arguments.ts';
import { chunkLongResults } from '../invoke/result-policy.ts';
import { createInvokeTelemetry } from '../invoke/telemetry.ts';
import type { Clock } from '../kernel/clock.ts';
import { systemClock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { Log } from '../kernel/log.ts';
import { memoryGuide } from '../memory/memory-guide.ts';
import { memoryTools } from '../memory/memory-tools.ts';
import type { MediaStash } from '../memory/media-stash.ts';
import { createMediaStash } from '../memory/media-stash.ts';
import type { MemoryRecord, WorkingMemory } from '../memory/working-memory.ts';
import { createWorkingMemory } from '../memory/working-memory.ts';
import { orderPlugins } from '../plugin/order.ts';
import type { Plugin, PluginHost, ServiceKey } from '../plugin/plugin.ts';
import { createSchemaValidator } from '../schema/validate.ts';
import type { Store } from '../store/store.ts';
import type { CallContext } from '../tool/context.ts';
import { guideTools } from '../tool/guide-tools.ts';
import type { GuideShelf } from '../tool/guide.ts';
import { createGuideShelf } from '../tool/guide.ts';
import type { Outcome } from '../tool/outcome.ts';
import type { ToolRegistry } from '../tool/registry.ts';
import { createToolRegistry } from '../tool/registry.ts';
import type { AvailabilityCheck } from '../toolset/availability.ts';
import type { ExecutionHistory } from '../toolset/execution-history.ts';
import { createExecutionHistory } from '../toolset/execution-history.ts';
import type { Toolset, Toolsets } from '../toolset/toolset.ts';
import { createToolsets } from '../toolset/toolset.ts';
import type { GantryConfig } from './config/config-schema.ts';
import { configSchema } from './config/config-schema.ts';
import type { RawConfig } from './config/load-config.ts';
import { createLog } from './create-log.ts';
import type { Instruments } from './late-meter.ts';
import { openBus } from './open-bus.ts';
import { openMemoryStore, openStore } from './open-store.ts';
import type { GantryPaths } from './paths.ts';
import { pathsOf } from './paths.ts';
import { createServiceShelf } from './service-shelf.ts';
import { chunkingThresholdOf } from './thresholds.ts';
import { trackCalls } from './track-calls.ts';

/** What a Gantry is made with; everything has a default. */
export interface GantryOptions extends RawConfig {
  /** Settings as in `gantry.config.json`, checked and completed; default all defaults. */
  readonly config?: GantryConfig | undefined;
  /** Folder of everything that must survive a restart, default `.gantry`; `:memory:` keeps nothing on disk. */
  readonly dataDir?: string | undefined;
  readonly log?: Log | undefined;
  readonly clock?: Clock | undefined;
  /** Records the metrics; default that of the OpenTelemetry SDK that is registered at the start. */
  readonly meter?: Instruments | undefined;
  /** Default the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** Where relative paths start; default the working folder. */
  readonly cwd?: string | undefined;
  /** Which tools which kind of caller is offered; default all. */
  readonly exposes?: AvailabilityCheck | undefined;
}

/** How one call is made. */
export interface CallOptions extends Partial<Omit<CallContext, 'caller'>> {
  readonly id?: string | undefined;
  /** Default `operator`: results come whole and are not split. */
  readonly caller?: CallContext['caller'] | undefined;
}

/** A running Gantry. Disposing stops it: running calls get up to 5 s, then are aborted. */
export interface Gantry extends AsyncDisposable {
  readonly config: GantryConfig;
  readonly paths: GantryPaths;
  readonly tools: ToolRegistry;
  readonly guides: GuideShelf;
  readonly toolsets: Toolsets;
  readonly invoker: Invoker;
  /** The last calls of this process. */
  readonly history: ExecutionHistory;
  readonly memory: WorkingMemory;
  /** Where tools put media for the context items of their outcomes, when they are in no file. */
  readonly media: MediaStash;
  readonly bus: Bus;
  readonly store: Store;
  readonly log: Log;
  readonly clock: Clock;
  /** The tools a caller is shown now. */
  toolset(context?: Partial<CallContext>): Toolset;
  /** Calls a tool through the one path; failures are outcomes. */
  call(name: string, args?: string | JsonObject, options?: CallOptions): Promise<Outcome>;
  /** Takes no more calls and aborts those that run; their callers are told `stopped`. The rest of a stop is disposing. */
  abortCalls(): void;
  /** What a plugin provides, or undefined. */
  service<T>(key: ServiceKey<T>): T | undefined;
}

/** Collects plugins, then starts. */
export interface GantryBuilder {
  use(...plugins: readonly Plugin[]): GantryBuilder;
  /**
   * Opens the store, sets the plugins up in the order of their needs and starts them.
   * @throws {GantryError} `plugin_unresolved`, `data_dir_unwritable`, `store_too_new`, `store_unavailable`, `config_invalid`, or what a plugin threw.
   */
  start(): Promise<Gantry>;
}

/**
 * Begins a Gantry inside this process.
 *
 * @example await using gantry = await createGantry({ dataDir: '.gantry' }).use(mcp({ config: 'mcp.json' })).start();
 */
export const createGantry = (options: GantryOptions = {}): GantryBuilder => {
  const plugins: Plugin[] = [];
  const builder: GantryBuilder = {
    use: (...more) => {
      plugins.push(...more);
      return builder;
    },
    start: () => startGantry(options, plugins),
  };
  return builder;
};

const inMemory = ':memory:';

const startGantry = async (options: GantryOptions, plugins: readonly Plugin[]): Promise<Gantry> => {
  const { clock = systemClock, env = process.env, cwd = process.cwd(), exposes } = options;
  const meter = options.meter ?? metrics.getMeter('gantry');
  const given = options.config ?? configSchema.parse({});
  const config =
    options.dataDir === undefined || options.dataDir === inMemory ? given : { ...given, dataDir: options.dataDir };
  const ordered = orderPlugins(plugins);
  const log = options.log ?? createLog(config.log);
  const paths = pathsOf(config, cwd, env);
  const stack = new AsyncDisposableStack();
  try {
    const store = await (options.dataDir === inMemory
      ? openMemoryStore({ clock, log })
      : openStore(config.store, { paths, env, clock, log }));
    stack.use(store);
    const bus = withBusTelemetry(await openBus(config.bus, { agent: config.agent, log, clock }), { meter, clock });
    stack.use(bus);
    const memory = createWorkingMemory({ keyValue: store.keyValue<MemoryRecord>('working-memory'), clock, log });
    stack.use(memory);
    const media = stack.use(createMediaStash({ clock }));

    const stopping = new AbortController();
    const tools = createToolRegistry();
    const guides = createGuideShelf();
    const toolsets = createToolsets({ registry: tools, log, exposes });
    const services = createServiceShelf();
    const invoker = createInvoker({
      lookUp: toolsets.find,
      callableNames: toolsets.names,
      explainMissing: toolsets.missing,
      howToFind: toolsets.howToFind,
      prepareArguments: createPrepareArguments(createSchemaValidator()),
      resultPolicy: chunkLongResults({
        stashText: memory.stash,
        thresholdFor: (context) => chunkingThresholdOf(config.modelBehaviors, context),
      }),
      telemetry: createInvokeTelemetry(meter),
      maxToolTimeoutMs: config.loop.maxToolTimeoutMs,
      clock,
      log,
    });
    const history = createExecutionHistory({ clock, registry: tools });
    const running = trackCalls(history.remembering(invoker), clock);

    guides.add(memoryGuide);
    for (const tool of [...guideTools(guides), ...memoryTools(memory, clock)])
      tools.register(tool.registration, tool.executor);

    const starts: (() => void | PromiseLike<void>)[] = [];
    const host: PluginHost = {
      agent: config.agent,
      tools,
      offerTypedTools: toolsets.offer,
      fitTool: toolsets.fit,
      callable: toolsets,
      guides,
      bus,
      store,
      memory,
      media,
      invoker: running.invoker,
      clock,
      log,
      dataDir: paths.dataDir,
      sharedDir: paths.sharedDir,
      stopping: stopping.signal,
      onStart: (run) => void starts.push(run),
      onStop: (run) => stack.defer(() => logged(run, log)),
      provide: services.provide,
      service: services.take,
    };
    for (const plugin of ordered) await plugin.setup(host);
    stack.use(
      await serveToolInvoke({ bus, invoker: running.invoker, agent: config.agent, log, stopping: stopping.signal }),
    );
    for (const start of starts) await start();
    stack.defer(async () => {
      await running.settled(stopGraceMs);
      stopping.abort(new GantryError('stopped', 'Gantry is stopping.'));
      running.abort();
      // Those who wait for the calls are told before what they run on goes away.
      await running.settled(stopGraceMs);
    });

    return {
      config,
      paths,
      tools,
      guides,
      toolsets,
      invoker: running.invoker,
      history,
      memory,
      media,
      bus,
      store,
      log,
      clock,
      toolset: (context = {}) => toolsets.for({ caller: 'model', ...context }),
      call: (name, args, { id, caller = 'operator', ...context } = {}) =>
        running.invoker.invoke({ id, name, arguments: args }, { ...context, caller }),
      abortCalls: running.abort,
      service: services.find,
      [Symbol.asyncDispose]: () => stack.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
};

const stopGraceMs = 5000;

const logged = async (run: () => void | PromiseLike<void>, log: Log): Promise<void> => {
  try {
    await run();
  } catch (error) {
    log.error({ err: error }, 'a part of Gantry did not stop cleanly');
  }
};
