import type { JsonObject } from '../../../../kernel/json.ts';
import type { TasksAtOlder, WatchedTask } from './tasks-at-older.ts';

/** Tasks that somebody listens to. */
export interface WatchedTasks {
  /** Those about which the server is heard. */
  readonly ids: readonly string[];
  /** Hears their states from now on, and those that were told before. */
  hear(listener: (task: JsonObject) => void): void;
}

/** Begins to listen to tasks of a client, as far as the list is one. */
export type WatchTasks = (list: unknown, of: Omit<WatchedTask, 'id' | 'tell'>) => Promise<WatchedTasks>;

const mostTasks = 50;

/** Makes it. */
export const createWatchTasks =
  ({ watch }: Pick<TasksAtOlder, 'watch'>): WatchTasks =>
  async (list, of) => {
    const early: JsonObject[] = [];
    const ids: string[] = [];
    let tell = (task: JsonObject): void => void early.push(task);
    const watchOne = async (id: string): Promise<void> => {
      const watching = watch({ ...of, id, tell: (task) => tell(task) });
      // Why one is not heard the log says; the client sees in what is acknowledged that it has to poll.
      await watching.then(
        () => ids.push(id),
        () => undefined,
      );
    };
    const wanted = Array.isArray(list) ? list.filter((id) => typeof id === 'string') : [];
    await Promise.all(wanted.slice(0, mostTasks).map(watchOne));
    return {
      ids,
      hear: (listener) => {
        tell = listener;
        for (const task of early.splice(0)) listener(task);
      },
    };
  };
