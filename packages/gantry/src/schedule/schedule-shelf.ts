import type { Documents } from '../store/documents.ts';
import type { KeyValue } from '../store/key-value.ts';
import type { Shapes } from '../store/store.ts';
import type { RunRecord, StoredTask } from './scheduled-task.ts';

/** Where the schedule lies in the store. */
export interface ScheduleShelf {
  readonly tasks: Documents<StoredTask>;
  /**
   * What was changed, for the process that owns the schedule: `task/{id}`, or {@link zoneNotice}. Written in the same breath as
   * the change.
   */
  readonly notices: KeyValue<true>;
  /** The agent's zone under the id `time-zone`, once somebody has set it. */
  readonly settings: Documents<string>;
  history(id: string): Promise<readonly RunRecord[]>;
  /** Adds a line; the last 20 of a task are kept, for 30 days after the latest. */
  record(id: string, record: RunRecord): Promise<void>;
  /** Frees the space of history that has expired. */
  sweep(): Promise<number>;
}

/** The notice that the agent's zone has changed. */
export const zoneNotice = 'zone';
const taskNotice = 'task/';
/** The notice that a task was written or deleted. */
export const noticeOf = (id: string): string => `${taskNotice}${id}`;
/** The task that a notice speaks of. */
export const noticedTask = (notice: string): string => notice.slice(taskNotice.length);

const mostRecords = 20;
const recordTtlMs = 30 * 86_400_000;

/** Opens the shelf on a store, or on a store behind a lease: then every write needs the lease. */
export const scheduleShelf = (shapes: Shapes): ScheduleShelf => {
  const records = shapes.keyValue<readonly RunRecord[]>('schedule-history');
  const history = async (id: string): Promise<readonly RunRecord[]> => (await records.get(id))?.value ?? [];
  return {
    tasks: shapes.documents('schedule'),
    notices: shapes.keyValue('schedule-notices'),
    settings: shapes.documents('schedule-settings'),
    history,
    record: async (id, record) => {
      const lines = [...(await history(id)), record].slice(-mostRecords);
      await records.set(id, lines, { ttlMs: recordTtlMs });
    },
    sweep: () => records.sweep(),
  };
};
