import { throwIfAborted } from '../../kernel/abort.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { NewId } from '../../kernel/ids.ts';
import { sideBySide } from '../../kernel/side-by-side.ts';
import { flattenText } from '../../text/flatten.ts';
import type { CallContext } from '../../tool/context.ts';
import type { WorkerPorts } from './run-worker.ts';
import { createRunWorker } from './run-worker.ts';
import type { WorkerDefinition, WorkerResult } from './worker-definition.ts';
import { workerNamespace } from './worker-definition.ts';

/** Small agents that work side by side on one task each, while their caller waits. */
export interface Workers {
  /**
   * Runs them and gives how each went, in the order of the definitions; one that fails ends no other.
   * @throws {GantryError} the reason, when the caller gives up; `stopped`.
   */
  run(definitions: readonly WorkerDefinition[], context: CallContext): Promise<readonly WorkerResult[]>;
  /**
   * Passes a report of a running worker on as progress of the call that started it.
   * @throws {GantryError} `limit_reached` after 20 reports; `task_unknown` when it does not run here.
   */
  report(namespace: string, message: string): Promise<void>;
}

const idLength = 12;
const mostReports = 20;

/** Makes the workers of a process. */
export const createWorkers = (
  options: WorkerPorts & {
    readonly newId: NewId;
    /** Workers of one batch that run at the same time. */
    readonly maxConcurrent: number;
  },
): Workers => {
  const { newId, maxConcurrent } = options;
  const runWorker = createRunWorker(options);
  const listeners = new Map<string, (message: string) => void>();

  return {
    run: async (definitions, context) => {
      const { signal = new AbortController().signal, onProgress } = context;
      let done = 0;
      const tell = (message: string): void => onProgress?.({ progress: done, total: definitions.length, message });
      const results = await sideBySide(definitions, maxConcurrent, async (definition) => {
        const taskId = newId().slice(0, idLength);
        const namespace = workerNamespace(taskId);
        const name = flattenText(definition.description, { maxChars: 60 });
        listeners.set(
          namespace,
          limited((message) => tell(`${name}: ${message}`)),
        );
        try {
          const result = await runWorker(taskId, definition, context, signal);
          done += 1;
          tell(name);
          return result;
        } finally {
          listeners.delete(namespace);
        }
      });
      throwIfAborted(signal);
      return results;
    },
    report: async (namespace, message) => {
      const listen = listeners.get(namespace);
      if (!listen) throw new GantryError('task_unknown', 'This worker has ended; nothing more can be reported.');
      listen(flattenText(message, { maxChars: 500 }));
    },
  };
};

const limited = (listen: (message: string) => void): ((message: string) => void) => {
  let reports = 0;
  return (message) => {
    if (reports >= mostReports)
      throw new GantryError(
        'limit_reached',
        `${mostReports} reports are the most. Go on, and say the rest at the end.`,
      );
    reports += 1;
    listen(message);
  };
};
