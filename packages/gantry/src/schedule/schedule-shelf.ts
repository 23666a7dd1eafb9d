import type { Documents, IfRevision, OrderedDocument } from '../store/documents.ts';
import type { Shapes } from '../store/store.ts';
import type { RunRecord, StoredTask } from './scheduled-task.ts';

/** The tasks, with an eye on which come next. */
export interface TaskDocuments extends Omit<Documents<StoredTask>, 'put'> {
  put(id: string, task: StoredTask, options?: IfRevision): Promise<number>;
  /** Tasks that run now or were cut off, then those that are due next. `order` is when (epoch ms), 0 for the former. */
  earliest(limit: number): Promise<OrderedDocument<StoredTask>[]>;
}

/** Where the schedule lies in the store. */
export interface ScheduleShelf {
  readonly tasks: TaskDocuments;
  /** The agent's zone under the id `time-zone`, once somebody has set it; `zone-of-times` is the zone of all stored times. */
  readonly settings: Documents<string>;
  history(id: string): Promise<readonly RunRecord[]>;
  /** Adds a line; the last 20 of a task are kept, for 30 days after the latest. */
  record(id: string, record: RunRecord): Promise<void>;
  /** Frees the space of history that has expired. */
  sweep(): Promise<number>;
}

const mostRecords = 20;
const recordTtlMs = 30 * 86_400_000;

/** Opens the shelf on a store, or on a store behind a lease: then every write needs the lease. */
export const scheduleShelf = (shapes: Shapes): ScheduleShelf => {
  const records = shapes.keyValue<readonly RunRecord[]>('schedule-history');
  const tasks = shapes.documents<StoredTask>('schedule');
  const history = async (id: string): Promise<readonly RunRecord[]> => (await records.get(id))?.value ?? [];
  return {
    tasks: {
      ...tasks,
      put: (id, task, options) => tasks.put(id, task, { ...options, order: task.running ? 0 : task.next.atMs }),
    },
    settings: shapes.documents('schedule-settings'),
    history,
    record: async (id, record) => {
      const lines = [...(await history(id)), record].slice(-mostRecords);
      await records.set(id, lines, { ttlMs: recordTtlMs });
    },
    sweep: () => records.sweep(),
  };
};
