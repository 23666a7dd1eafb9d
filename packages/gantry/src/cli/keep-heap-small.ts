import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Makes V8 collect earlier than it would on a machine with much memory: calls leave next to nothing behind, yet by default the
 * heap grows to several times what is alive before it is looked at (measured: 350 MB after 30,000 small calls, 45 MB of them
 * alive). Costs a few per cent of CPU.
 */
export const keepHeapSmall = (): void => setFlagsFromString('--heap-growing-percent=30');

// An idle gateway makes next to nothing, and less than this is not worth a collection.
const idleMs = 3000;
const idleBytes = 512 * 1024;
const worthwhileBytes = 8 * 1024 * 1024;

/**
 * Keeps the young generation at the size it has now, instead of the largest there is. Called when a start is over: it has grown with the
 * start, and from its first size on it would be collected so often that calls cost half as much CPU again. Once nothing happens for a
 * while, what the heap holds free is given back; with work it grows again to the size it had.
 */
export const tendHeap = (): void => {
  const youngBytes = youngSize();
  letYoungGrow(false);
  const collected = new PerformanceObserver(() => {
    if (youngSize() < youngBytes) return;
    letYoungGrow(false);
    collected.disconnect();
  });
  let allocatedBefore = allocatedBytes();
  const look = (): void => {
    const allocated = allocatedBytes();
    const isIdle = allocated - allocatedBefore < idleBytes;
    allocatedBefore = allocated;
    if (!isIdle || freeBytes() < worthwhileBytes) return;
    collectAll();
    letYoungGrow(true);
    collected.observe({ entryTypes: ['gc'] });
  };
  setInterval(look, idleMs).unref();
};

// Once V8 runs, the limit of the young generation is read no more, but its growth is.
const letYoungGrow = (may: boolean): void => setFlagsFromString(`--semi-space-growth-factor=${may ? 2 : 1}`);

const youngSize = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;

// Node 24 does not count it: its heap is left as it is.
const allocatedBytes = (): number => getHeapStatistics().total_allocated_bytes ?? Number.NaN;

const freeBytes = (): number => {
  const { total_heap_size: total, used_heap_size: used } = getHeapStatistics();
  return total - used;
};

type CollectGarbage = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;
let collectGarbage: CollectGarbage | undefined;

/** The collection that gives pages back to the system, which an ordinary one does not. */
const collectAll = (): void => {
  if (!collectGarbage) {
    setFlagsFromString('--expose-gc');
    collectGarbage = runInNewContext('gc') as CollectGarbage;
    setFlagsFromString('--no-expose-gc');
  }
  collectGarbage({ type: 'major', flavor: 'last-resort' });
};
