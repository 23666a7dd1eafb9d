import { readFileSync, readlinkSync } from 'node:fs';

/** Names a process to others that may ask whether it still runs. */
export interface ProcessMark {
  /** Where its number means something: one start of one machine, and the container in it. */
  readonly space: string;
  readonly pid: number;
}

/** The mark of this process; undefined on systems that do not say which numbers of processes are their own. */
export const ownProcessMark = (): ProcessMark | undefined => {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return { space: `${boot} ${readlinkSync('/proc/self/ns/pid')}`, pid: process.pid };
  } catch {
    // No Linux, or one that hides it: then nothing can be proved.
    return undefined;
  }
};

/** True only when it is certain that the process has ended: it ran where this one runs, and nothing has its number now. */
export const isProcessGone = ({ space, pid }: ProcessMark): boolean => {
  if (ownProcessMark()?.space !== space) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
};
