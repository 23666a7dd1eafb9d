import type { Bus } from '../bus/bus.ts';
import type { Invoker } from '../invoke/invoker.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { MediaStash } from '../memory/media-stash.ts';
import type { WorkingMemory } from '../memory/working-memory.ts';
import type { Store } from '../store/store.ts';
import type { CallableTools } from '../tool/callable-tools.ts';
import type { GuideShelf } from '../tool/guide.ts';
import type { ToolRegistry } from '../tool/registry.ts';
import type { FitTool, TypedTools } from '../tool/typed-tools.ts';

/**
 * A subsystem: registers its tools, guides and handlers in `setup`. Plugins start in the order of their needs and stop in
 * reverse.
 */
export interface Plugin {
  readonly name: string;
  /** Plugins that must be set up before this one. */
  readonly needs?: readonly string[] | undefined;
  setup(gantry: PluginHost): void | Promise<void>;
}

/** What a plugin is given. */
export interface PluginHost {
  /** Identity name of this process on the bus. */
  readonly agent: string;
  readonly tools: ToolRegistry;
  /** Offers tools of servers beside the registry; one plugin may, once. */
  offerTypedTools(tools: TypedTools): void;
  /** Whether a caller may have a tool now, as lists and calls judge it. */
  readonly fitTool: FitTool;
  /** What a caller is shown and may run, for those who make turns for a model. */
  readonly callable: CallableTools;
  readonly guides: GuideShelf;
  readonly bus: Bus;
  readonly store: Store;
  readonly memory: WorkingMemory;
  /** Where tools put media for the context items of their outcomes, when they are in no file. */
  readonly media: MediaStash;
  readonly invoker: Invoker;
  readonly clock: Clock;
  readonly log: Log;
  /** Absolute path of the data folder. */
  readonly dataDir: string;
  /** Absolute path of the folder that tools, scripts and clients share. */
  readonly sharedDir: string;
  /** Aborts when the process stops. */
  readonly stopping: AbortSignal;
  /** Runs when every plugin is set up and the bus is served. */
  onStart(run: () => void | PromiseLike<void>): void;
  /** Runs at stop, in reverse order of registration. Failures are logged; the others still run. */
  onStop(run: () => void | PromiseLike<void>): void;
  /** Offers a live object to plugins that name this one in `needs`. */
  provide<T>(key: ServiceKey<T>, service: T): void;
  /**
   * Takes what another plugin provides.
   * @throws {GantryError} `plugin_unresolved` when nothing provides it.
   */
  service<T>(key: ServiceKey<T>): T;
}

/** Names a service with its type; declared by the room that provides it. */
export interface ServiceKey<T> {
  readonly name: string;
  /** Carries the type only; never set. */
  readonly type?: T | undefined;
}
