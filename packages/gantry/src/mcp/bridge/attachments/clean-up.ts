import { messageOf } from '../../../kernel/errors.ts';
import type { Clock, Timer } from '../../../kernel/clock.ts';
import type { Log } from '../../../kernel/log.ts';
import type { FileVolume } from '../../../volume/volume.ts';

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const maxEntries = 100_000;

/**
 * Removes files directly in the folder `attachments` that were not written to for so many days, now and every hour. Disposing stops it.
 */
export const startCleanUp = (options: {
  readonly volume: Pick<FileVolume, 'list' | 'remove'>;
  readonly maxAgeDays: number;
  readonly clock: Clock;
  readonly log: Log;
}): AsyncDisposable => {
  const { volume, maxAgeDays, clock, log } = options;
  let timer: Timer | undefined;
  let isStopping = false;

  const cleanUp = async (): Promise<void> => {
    const before = clock.nowMs() - maxAgeDays * dayMs;
    const top = await volume.list('', { depth: 1, maxEntries });
    if (!top.entries.some(({ path, kind }) => path === 'attachments' && kind === 'folder')) return;
    const { entries } = await volume.list('attachments', { depth: 1, maxEntries });
    let removed = 0;
    for (const { path, kind, modifiedMs } of entries) {
      if (isStopping) break;
      if (kind !== 'file' || modifiedMs >= before) continue;
      await volume.remove(path);
      removed += 1;
    }
    if (removed > 0) log.info({ removed, maxAgeDays }, 'old attachments were removed');
  };

  const run = async (): Promise<void> => {
    try {
      await cleanUp();
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'old attachments could not be removed');
    }
    if (!isStopping) timer = clock.startTimer(hourMs, () => (running = run()));
  };

  let running = run();
  return {
    [Symbol.asyncDispose]: async () => {
      isStopping = true;
      timer?.stop();
      await running;
    },
  };
};
