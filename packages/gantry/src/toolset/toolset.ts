import type { Log } from '../kernel/log.ts';
import type { CallContext } from '../tool/context.ts';
import type { Tool } from '../tool/executor.ts';
import type { ToolRegistration } from '../tool/registration.ts';
import type { ToolRegistry } from '../tool/registry.ts';
import { assembleTool } from './assembly.ts';
import type { AvailabilityCheck } from './availability.ts';
import { availabilityChecks } from './availability.ts';

/** The tools that one turn or request is shown, in a stable order: by source, then by name. */
export interface Toolset {
  readonly tools: readonly ToolRegistration[];
}

/** Decides in one place what a caller may see and call; list, search, details and calls all ask here. */
export interface Toolsets {
  /** What this caller is shown now. */
  for(context: CallContext): Toolset;
  /** The tool this caller may run under that name now, judged afresh at every call. */
  find(name: string, context: CallContext): Tool | undefined;
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

  /** The tool as this turn has it, or undefined. A check or hook that throws hides that tool only. */
  const fit = (registration: ToolRegistration, context: CallContext): ToolRegistration | undefined => {
    try {
      for (const passes of checks) if (!passes(registration, context)) return undefined;
      return assembleTool(registration, context);
    } catch (error) {
      log.warn({ tool: registration.name, err: error }, 'a tool was hidden because its availability check failed');
      return undefined;
    }
  };

  return {
    for: (context) => {
      const tools: ToolRegistration[] = [];
      for (const registration of registry.getTools()) {
        const fitted = fit(registration, context);
        if (fitted) tools.push(fitted);
      }
      return { tools };
    },
    find: (name, context) => {
      const tool = registry.get(name);
      const fitted = tool && fit(tool.registration, context);
      if (!tool || !fitted) return undefined;
      return fitted === tool.registration ? tool : { ...tool, registration: fitted };
    },
  };
};
