import { throwIfAborted } from '../../kernel/abort.ts';
import { sideBySide } from '../../kernel/side-by-side.ts';
import type { CallContext, Progress } from '../../tool/context.ts';
import { createDispatchBreaker, mostDispatches } from './dispatch-breaker.ts';
import { createRunWisp } from './run-wisp.ts';
import type { WispResult } from './run-wisp.ts';
import type { WispDefinition } from './wisp-definition.ts';
import type { WispLog } from './wisp-log.ts';
import type { WispPorts } from './wisp-ports.ts';
import type { WispBatch } from './wisp-report.ts';
import { summarizeBatch } from './wisp-report.ts';

/** Runs batches of pipelines. */
export interface Wisps {
  /**
   * Runs pipelines side by side and gives how each went; one that fails ends no other.
   * @throws {GantryError} the reason, when the caller gives up; `stopped`.
   */
  run(definitions: readonly WispDefinition[], context: CallContext): Promise<WispBatch>;
}

const batchIdLength = 12;
const wispIdLength = 11;
const summaryTtlMs = 60 * 60_000;

/** Makes the pipelines of a process. */
export const createWisps = (
  options: WispPorts & {
    readonly wispLog: WispLog;
    /** Pipelines of one batch that run at the same time. */
    readonly maxConcurrent: number;
  },
): Wisps => {
  const { clock, newId, memory, wispLog, maxConcurrent } = options;
  const runWisp = createRunWisp(options);
  const breaker = createDispatchBreaker(clock);

  const runOne = async (definition: WispDefinition, context: CallContext, signal: AbortSignal): Promise<WispResult> => {
    const wispId = `wisp-${newId().slice(0, wispIdLength)}`;
    if (!breaker.admit(definition.hash))
      return {
        wispId,
        definition,
        isSuccess: false,
        durationMs: 0,
        steps: [],
        output: undefined,
        failure: {
          category: 'Structural',
          message: `Not run: this very pipeline ran ${mostDispatches} times within five minutes. Change it, or wait.`,
        },
        warnings: [],
      };
    const { workspace, features, permissions, ids, model, trace } = context;
    const run = {
      namespace: `wisp/${wispId}`,
      callerNamespace: context.namespace,
      context: { workspace, features, permissions, ids, model, trace },
    };
    return runWisp(wispId, definition, run, signal);
  };

  return {
    run: async (definitions, context) => {
      const { signal = new AbortController().signal, onProgress } = context;
      const batchId = `batch-${newId().slice(0, batchIdLength)}`;
      let done = 0;
      const results = await sideBySide(definitions, maxConcurrent, async (definition) => {
        const result = await runOne(definition, context, signal);
        done += 1;
        const progress: Progress = { progress: done, total: definitions.length, message: definition.description };
        onProgress?.(progress);
        return result;
      });
      throwIfAborted(signal);
      const summaryKey = await memory.stash({
        namespace: `wisp/batch-${batchId}`,
        key: 'summary',
        text: JSON.stringify(summarizeBatch(batchId, results)),
        category: 'wisp-summary',
        ttlMs: summaryTtlMs,
      });
      await wispLog.append({ batchId, session: context.namespace, results });
      return { batchId, results, summaryKey };
    },
  };
};
