import { newId } from '../kernel/ids.ts';
import { silentLog } from '../kernel/log.ts';
import type { OperationDeps } from '../operations/operation-deps.ts';
import { createGuideShelf } from '../tool/guide.ts';
import type { Tool } from '../tool/executor.ts';
import { createToolsets } from '../toolset/toolset.ts';
import { fakeClock } from './fake-clock.ts';
import { makeInvoker, registryOf } from './make-invoker.ts';

/** What operations work on: the given tools behind the real call path, and no servers; any part can be replaced. */
export const makeOperationDeps = (tools: readonly Tool[] = [], options: Partial<OperationDeps> = {}): OperationDeps => {
  const registry = registryOf(...tools);
  const toolsets = createToolsets({ registry, log: silentLog });
  const clock = fakeClock();
  return {
    registry,
    toolsets,
    guides: createGuideShelf(),
    invoker: makeInvoker(registry, {
      lookUp: toolsets.find,
      callableNames: toolsets.names,
      clock,
    }),
    memory: { get: async () => undefined, list: async () => [] },
    effectiveConfig: () => ({}),
    doctor: async () => ({ ok: true, checks: [] }),
    clock,
    newId,
    log: silentLog,
    ...options,
  };
};
