import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * Settings of V8 for a service. Call it when what the start needs is loaded, since V8 takes no code from a cache that was made under other
 * settings, Node's own included.
 *
 * - The heap is collected earlier than it would be on a machine with much memory: by default it grows to several times what is alive before it
 *   is looked at (measured: 350 MB after 30,000 small calls, 45 MB of them alive), for a few per cent of CPU.
 * - What is hot goes to the best compiler at once, after 1,000 invocations instead of 3,000: without the one in between, calls cost a quarter
 *   less and what they leave takes 15 to 30 MB less.
 * - That compiler rests until there is work ({@link staySmall}): 5 MB of it would be read for functions of the start.
 * - The HTTP library's parser is optimized after some thousand answers instead of twenty: that takes 50 ms and 20 MB, and gains little.
 */
export const startSmall = (): void => {
  for (const setting of settings) setFlagsFromString(setting);
};

const settings = [
  '--heap-growing-percent=30',
  '--no-maglev',
  '--invocation-count-for-turbofan=1000',
  '--no-opt',
  '--wasm-tiering-budget=2000000000',
];

const lookMs = 1000;
/** Processor time within one look from which a process has work, and up to which it is quiet. */
const busyMs = 200;
const quietMs = 30;
/** While the compiler rests, work is looked for more often, so that the first of it does not wait for a whole look. */
const restingLookMs = 250;
const burstMs = 100;
const quietLooks = 3;
/** Processor time after which a collection finds something. */
const worthwhileMs = 500;

/**
 * Looks once a second what the process has to do, from the end of its start on. The compilers are set to work when it is busy. Once it is
 * quiet, what the heap holds free is given back to the system, the first time with the code that only the start needed.
 */
export const staySmall = (): void => {
  const tend = tendYoungGeneration();
  let lookedAtMs = usedMs();
  let collectedAtMs = 0;
  let quiet = 0;
  let resting: NodeJS.Timeout | undefined;
  const wake = (): void => {
    if (!resting) return;
    setFlagsFromString('--opt');
    clearInterval(resting);
    resting = undefined;
  };
  const look = (): void => {
    const nowMs = usedMs();
    const sinceMs = nowMs - lookedAtMs;
    lookedAtMs = nowMs;
    if (sinceMs >= busyMs) wake();
    quiet = sinceMs < quietMs ? quiet + 1 : 0;
    if (quiet < quietLooks || nowMs - collectedAtMs < worthwhileMs) return;
    if (collectedAtMs === 0) collectWithCode();
    else collect();
    tend();
    collectedAtMs = usedMs();
    lookedAtMs = collectedAtMs;
  };
  // What a start leaves to do is not work yet.
  setTimeout(() => {
    lookedAtMs = usedMs();
    setInterval(look, lookMs).unref();
    let seenMs = lookedAtMs;
    resting = setInterval(() => {
      const nowMs = usedMs();
      if (nowMs - seenMs >= burstMs) wake();
      seenMs = nowMs;
    }, restingLookMs).unref();
  }, lookMs).unref();
};

/** Processor time of the process so far, in milliseconds. */
const usedMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/**
 * Keeps the young generation at the size it has now, instead of the largest there is: it has grown with the start, and from its first size on
 * it would be collected so often that calls cost half as much CPU again. After a collection that shrank it, what is returned lets it grow
 * to that size once more.
 */
const tendYoungGeneration = (): (() => void) => {
  const keptBytes = youngBytes();
  letYoungGrow(false);
  const collected = new PerformanceObserver(() => {
    if (youngBytes() < keptBytes) return;
    letYoungGrow(false);
    collected.disconnect();
  });
  return () => {
    letYoungGrow(true);
    collected.observe({ entryTypes: ['gc'] });
  };
};

// Once V8 runs, the limit of the young generation is read no more, but its growth is.
const letYoungGrow = (may: boolean): void => setFlagsFromString(`--semi-space-growth-factor=${may ? 2 : 1}`);

const youngBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space')?.space_size ?? 0;

type CollectGarbage = (options: { readonly type: 'major'; readonly flavor: 'last-resort' }) => void;
let collectGarbage: CollectGarbage | undefined;

/** The collection that gives pages back to the system, which an ordinary one does not. */
const collect = (): void => {
  if (!collectGarbage) {
    setFlagsFromString('--expose-gc');
    collectGarbage = runInNewContext('gc') as CollectGarbage;
    setFlagsFromString('--no-expose-gc');
  }
  collectGarbage({ type: 'major', flavor: 'last-resort' });
};

/** The same, and compiled code goes too; what is needed again is compiled again from its source. */
const collectWithCode = (): void => {
  setFlagsFromString('--stress-flush-code');
  collect();
  setFlagsFromString('--no-stress-flush-code');
};
