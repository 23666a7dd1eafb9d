import { expect, it } from 'vitest';
import type { Log } from '../../../kernel/log.ts';
import { silentLog } from '../../../kernel/log.ts';
import { fakeClock } from '../../../testing/fake-clock.ts';
import type { VolumeEntry } from '../../../volume/volume.ts';
import { startCleanUp } from './clean-up.ts';

const dayMs = 86_400_000;

const fakeVolume = (files: VolumeEntry[]) => ({
  removed: [] as string[],
  list: async (folder: string) => ({
    entries: folder === '' ? [{ path: 'attachments', kind: 'folder' as const, size: 0, modifiedMs: 0 }] : files,
    isComplete: true,
  }),
  async remove(path: string) {
    if (path.includes('locked')) throw new Error('it is locked');
    this.removed.push(path);
  },
});

const file = (name: string, modifiedMs: number, kind: VolumeEntry['kind'] = 'file'): VolumeEntry => ({
  path: `attachments/${name}`,
  kind,
  size: 1,
  modifiedMs,
});

it('removes files that are older than allowed, again every hour, and nothing else', async () => {
  const clock = fakeClock();
  const now = clock.nowMs();
  const others = [file('young', now - 6 * dayMs), file('folder', 0, 'folder'), file('link', 0, 'link')];
  const files = [file('old', now - 8 * dayMs), ...others];
  const volume = fakeVolume(files);
  const cleaning = startCleanUp({ volume, maxAgeDays: 7, clock, log: silentLog });
  await clock.advance(0);
  expect(volume.removed).toEqual(['attachments/old']);
  files.splice(0, 1, file('later', now - 8 * dayMs));
  await clock.advance(3_600_000);
  expect(volume.removed).toEqual(['attachments/old', 'attachments/later']);
  await cleaning[Symbol.asyncDispose]();
  expect(clock.pendingTimers).toBe(0);
});

it('says what it could not do, and tries again later', async () => {
  const clock = fakeClock();
  const reasons: unknown[] = [];
  const log: Log = { ...silentLog, warn: ({ reason }) => void reasons.push(reason) };
  await using cleaning = startCleanUp({ volume: fakeVolume([file('locked', 0)]), maxAgeDays: 1, clock, log });
  await clock.advance(3_600_000);
  expect(reasons).toEqual(['it is locked', 'it is locked']);
  expect(cleaning).toBeDefined();
});
