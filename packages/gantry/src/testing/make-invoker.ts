import { metrics } from '@opentelemetry/api';
import { createInvoker } from '../invoke/invoker.ts';
import type { Invoker, InvokerOptions } from '../invoke/invoker.ts';
import { createPrepareArguments } from '../invoke/prepare-arguments.ts';
import { createInvokeTelemetry } from '../invoke/telemetry.ts';
import { systemClock } from '../kernel/clock.ts';
import { silentLog } from '../kernel/log.ts';
import { createSchemaValidator } from '../schema/validate.ts';
import type { Tool } from '../tool/executor.ts';
import type { ToolRegistry } from '../tool/registry.ts';
import { createToolRegistry } from '../tool/registry.ts';

/** A registry of the given tools. */
export const registryOf = (...tools: readonly Tool[]): ToolRegistry => {
  const registry = createToolRegistry();
  for (const tool of tools) registry.register(tool.registration, tool.executor);
  return registry;
};

/** The real call path over a registry in which every caller may run everything; any part can be replaced. */
export const makeInvoker = (registry: ToolRegistry, options: Partial<InvokerOptions> = {}): Invoker =>
  createInvoker({
    lookUp: (name) => registry.get(name),
    callableNames: () => registry.getTools().map((tool) => tool.name),
    prepareArguments: createPrepareArguments(createSchemaValidator()),
    resultPolicy: async (outcome) => outcome,
    telemetry: createInvokeTelemetry(metrics.getMeter('gantry')),
    clock: systemClock,
    log: silentLog,
    ...options,
  });
