import type { CallContext } from './context.ts';
import type { Tool } from './executor.ts';
import type { MissingHint } from './missing-hint.ts';
import type { ToolRegistration } from './registration.ts';
import type { ToolFamily } from './tool-family.ts';

/** The tool as this caller may have it now, or undefined. */
export type FitTool = (registration: ToolRegistration, context: CallContext) => ToolRegistration | undefined;

/**
 * A second source of tools beside the registry: those of servers. A caller may run all that he may see; what he is *shown* is chosen by mode,
 * and by what his session found, opened or called before.
 */
export interface TypedTools {
  /** The tool under that name for this caller, listed or not. Whether he may have it at all is judged by {@link FitTool}. */
  get(name: string, context: CallContext): Tool | undefined;
  /** The names that {@link TypedTools.get} knows for this caller, to suggest from. */
  names(context: CallContext): Iterable<string>;
  /** What a caller whose call names no tool can be told beside near names. */
  missing(name: string, context: CallContext): MissingHint | undefined;
  /**
   * How this caller finds tools of servers and calls them, as a sentence; undefined where there are none for him. It names only tools that
   * `isListed` knows.
   */
  howToFind(context: CallContext, isListed: (name: string) => boolean): string | undefined;
  /** The caller's list: of the registered tools that he may have those that his mode keeps, then tools of servers. */
  shape(registered: readonly ToolRegistration[], context: CallContext): readonly ToolRegistration[];
  /**
   * What does the work of the bundled tool of a family for this caller, as a sentence; undefined while no server does. Only tools that he may
   * have count, so a server that is down, or whose tools are all filtered, takes nothing over.
   */
  takesOver(family: ToolFamily, context: CallContext): string | undefined;
  /** Fetches what other processes have stored about this caller. To be awaited before a list is made for him. */
  prepare(context: CallContext): Promise<void>;
  /** Equal texts mean that `shape` adds and removes the same, and `takesOver` gives a sentence for the same families. */
  stamp(context: CallContext): string;
  /** Calls the listener when a stamp may have changed. Returns the way to stop it. */
  onChange(listener: () => void): () => void;
}
