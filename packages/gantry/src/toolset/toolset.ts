import { throwIfAborted } from '../kernel/abort.ts';
import { GantryError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import type { CallContext } from '../tool/context.ts';
import type { Tool } from '../tool/executor.ts';
import type { MissingHint } from '../tool/missing-hint.ts';
import type { ToolRegistration } from '../tool/registration.ts';
import type { ToolRegistry } from '../tool/registry.ts';
import type { FitTool, TypedTools } from '../tool/typed-tools.ts';
import { assembleTool } from './assembly.ts';
import type { AvailabilityCheck } from './availability.ts';
import { availabilityChecks } from './availability.ts';
import { whyHidden } from './why-hidden.ts';

/**
 * The tools that one turn or request is shown, in a stable order: the registered ones by source, then by name; behind them those of servers
 * that the caller's mode and session add.
 */
export interface Toolset {
  readonly tools: readonly ToolRegistration[];
}

/** Decides in one place what a caller may see and call; list, search, details and calls all ask here. */
export interface Toolsets {
  /** What this caller is shown now. */
  for(context: CallContext): Toolset;
  /** The tool this caller may run under that name now, shown or not, judged afresh at every call. */
  find(name: string, context: CallContext): Tool | undefined;
  /** The tool as this caller may have it now, or undefined; the judgement behind all the others. */
  readonly fit: FitTool;
  /** Every name that this caller may run, to suggest from. */
  names(context: CallContext): Iterable<string>;
  /** What a caller whose call names no tool can be told beside near names. */
  missing(name: string, context: CallContext): MissingHint | undefined;
  /** How this caller finds tools of servers beside those that he is shown, as a sentence; undefined where there are none for him. */
  howToFind(context: CallContext): string | undefined;
  /** Fetches what is stored about this caller elsewhere. To be awaited at the begin of a turn, and before a list for a client with an identity. */
  prepare(context: CallContext): Promise<void>;
  /** Equal texts mean that {@link Toolsets.for} gives this caller the same tools, unless a check of a tool's own changed its mind. */
  stamp(context: CallContext): string;
  /** Calls the listener when a stamp may have changed. Returns the way to stop it. */
  onChange(listener: () => void): () => void;
  /**
   * Adds the tools of servers; once.
   * @throws {GantryError} `tool_exists` the second time.
   */
  offer(tools: TypedTools): void;
}

/** What decides beside the tools themselves. */
export interface ToolsetOptions {
  readonly registry: ToolRegistry;
  readonly log: Log;
  /** Whether tools of this source are offered to this kind of caller at all. Default: all are. */
  readonly exposes?: AvailabilityCheck | undefined;
}

/** Makes the function from caller to tools over a registry. */
export const createToolsets = (options: ToolsetOptions): Toolsets => {
  const { registry, log, exposes } = options;
  const checks = exposes ? [exposes, ...availabilityChecks] : availabilityChecks;
  const listeners = new Set<() => void>();
  let typed: TypedTools | undefined;

  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  registry.onChange(changed);

  // A check or hook that throws hides that tool only.
  const judge: FitTool = (registration, context) => {
    try {
      for (const passes of checks) if (!passes(registration, context)) return undefined;
      return assembleTool(registration, context);
    } catch (error) {
      log.warn({ tool: registration.name, err: error }, 'a tool was hidden because its availability check failed');
      return undefined;
    }
  };

  /** What goes wrong on the side of servers takes away their tools and nothing else. */
  const ofServers = <T>(read: (tools: TypedTools) => T, without: T): T => {
    if (!typed) return without;
    try {
      return read(typed);
    } catch (error) {
      log.warn({ err: error }, 'the tools of servers are left out because they could not be read');
      return without;
    }
  };

  /** What a server does in the tool's place for this caller. Operators call everything, and a run what it was given by name. */
  const takenOver = ({ name, aliases = [], family }: ToolRegistration, context: CallContext): string | undefined =>
    family === undefined ||
    context.caller === 'operator' ||
    [name, ...aliases].some((known) => context.namedTools?.has(known))
      ? undefined
      : ofServers((servers) => servers.takesOver(family, context), undefined);

  const fit: FitTool = (registration, context) =>
    takenOver(registration, context) === undefined ? judge(registration, context) : undefined;

  const registered = (context: CallContext): ToolRegistration[] => {
    const tools: ToolRegistration[] = [];
    for (const registration of registry.getTools()) {
      const fitted = fit(registration, context);
      if (fitted) tools.push(fitted);
    }
    return tools;
  };

  const shown = (context: CallContext): readonly ToolRegistration[] => {
    const tools = registered(context);
    return ofServers((servers) => servers.shape(tools, context), tools);
  };

  return {
    for: (context) => ({ tools: shown(context) }),
    find: (name, context) => {
      const tool = registry.get(name) ?? ofServers((servers) => servers.get(name, context), undefined);
      const fitted = tool && fit(tool.registration, context);
      if (!tool || !fitted) return undefined;
      return fitted === tool.registration ? tool : { ...tool, registration: fitted };
    },
    fit,
    names: function* (context) {
      // Of the registered ones what is listed: what a mode leaves out on purpose is suggested to nobody.
      const listed = new Set(shown(context).map(({ name }) => name));
      for (const { name } of registered(context)) if (listed.has(name)) yield name;
      yield* ofServers<readonly string[]>(
        (servers) =>
          [...servers.names(context)].filter((name) => {
            const tool = servers.get(name, context);
            return tool !== undefined && fit(tool.registration, context) !== undefined;
          }),
        [],
      );
    },
    missing: (name, context) => {
      const hidden = registry.get(name)?.registration;
      const instead = hidden && takenOver(hidden, context);
      if (hidden && instead !== undefined && judge(hidden, context)) return { text: instead };
      // Others learn nothing of what they may not have.
      if (hidden && context.caller === 'model') return { text: whyHidden(hidden, context, log) };
      return ofServers((servers) => servers.missing(name, context), undefined);
    },
    howToFind: (context) =>
      ofServers((servers) => {
        const listed = new Set(shown(context).map(({ name }) => name));
        return servers.howToFind(context, (name) => listed.has(name));
      }, undefined),
    prepare: async (context) => {
      try {
        await typed?.prepare(context);
      } catch (error) {
        throwIfAborted(context.signal);
        log.warn({ err: error }, 'what a session made available of the tools of servers could not be read');
      }
    },
    stamp: (context) => `${registry.version}/${ofServers((servers) => servers.stamp(context), '')}`,
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    offer: (tools) => {
      if (typed)
        throw new GantryError('tool_exists', 'The tools of servers are offered already; offer them once.', {
          details: { name: 'typed tools' },
        });
      typed = tools;
      typed.onChange(changed);
      changed();
    },
  };
};
