import type { Launch } from './launcher.ts';

/** The limits that the kernel keeps for each process, as `setrlimit` takes them. */
export const resourceLimits = (launch: Launch): Readonly<Record<string, readonly [number, number]>> => {
  const { limits, cpuSeconds } = launch;
  const both = (value: number): readonly [number, number] => [value, value];
  return {
    core: both(0),
    nofile: both(256),
    nproc: both(limits.maxProcesses),
    fsize: both(limits.maxFileBytes),
    ...(launch.reservesAddressSpace
      ? // JavaScript engines claim room well before they fill it; what they fill is bounded for the run as a whole.
        { data: both(limits.memoryBytes * 2) }
      : // Programs map files and reserve room beyond what they fill; the factor leaves space for that.
        { data: both(limits.memoryBytes), as: both(limits.memoryBytes * 4) }),
    // The second number is the end for whoever ignores the first.
    ...(cpuSeconds === undefined ? {} : { cpu: [cpuSeconds, cpuSeconds + 1] }),
  };
};

/** The same as arguments of `prlimit` (util-linux). */
export const prlimitArgs = (launch: Launch): string[] =>
  Object.entries(resourceLimits(launch)).map(([name, [soft, hard]]) => `--${name}=${soft}:${hard}`);
