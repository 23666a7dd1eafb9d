import { GantryError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import type { CallContext } from '../tool/context.ts';
import type { Tool } from '../tool/executor.ts';
import type { ToolRegistration } from '../tool/registration.ts';
import type { ToolRegistry } from '../tool/registry.ts';
import type { FitTool, TypedTools } from '../tool/typed-tools.ts';
import { assembleTool } from './assembly.ts';
import type { AvailabilityCheck } from './availability.ts';
import { availabilityChecks, providerAllowed } from './availability.ts';

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
  /** A sentence for a caller whose call names no tool, where more can be said than near names. */
  missing(name: string, context: CallContext): string | undefined;
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
  const fit: FitTool = (registration, context) => {
    try {
      for (const passes of checks) if (!passes(registration, context)) return undefined;
      return assembleTool(registration, context);
    } catch (error) {
      log.warn({ tool: registration.name, err: error }, 'a tool was hidden because its availability check failed');
      return undefined;
    }
  };

  const registered = (context: CallContext): ToolRegistration[] => {
    const tools: ToolRegistration[] = [];
    for (const registration of registry.getTools()) {
      const fitted = fit(registration, context);
      if (fitted) tools.push(fitted);
    }
    return tools;
  };

  return {
    for: (context) => {
      const tools = registered(context);
      return { tools: typed ? typed.shape(tools, context) : tools };
    },
    find: (name, context) => {
      const tool = registry.get(name) ?? typed?.get(name, context);
      const fitted = tool && fit(tool.registration, context);
      if (!tool || !fitted) return undefined;
      return fitted === tool.registration ? tool : { ...tool, registration: fitted };
    },
    fit,
    names: function* (context) {
      for (const { name } of registered(context)) yield name;
      for (const name of typed?.names(context) ?? []) {
        const tool = typed?.get(name, context);
        if (tool && fit(tool.registration, context)) yield name;
      }
    },
    missing: (name, context) => whyHidden(registry.get(name)?.registration, context) ?? typed?.missing(name, context),
    prepare: async (context) => typed?.prepare(context),
    stamp: (context) => `${registry.version}/${typed?.stamp(context) ?? ''}`,
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

/**
 * Why a model may not call a tool that is there: the two cases ask for different things of it. Others learn nothing of what they may not have.
 */
const whyHidden = (registration: ToolRegistration | undefined, context: CallContext): string | undefined => {
  if (!registration || context.caller !== 'model') return undefined;
  if (!providerAllowed(registration, context))
    return `It is not supported with the model provider "${context.model?.provider}".`;
  return 'It is not available in this turn: it is not configured for it, or has done its work already. Do not call it again in this turn.';
};
