import type { ChildProcess } from 'node:child_process';
import type { Clock } from '../../../kernel/clock.ts';

const killAfterMs = 2_000;

/**
 * Ends a child that leads a process group, and everything it started: it may leave by itself for `graceMs`, then SIGTERM, after two
 * seconds SIGKILL. Resolves when the child is gone. On Windows only the child itself is ended.
 */
export const endProcessGroup = async (
  child: ChildProcess,
  options: { clock: Clock; graceMs: number },
): Promise<void> => {
  const { clock, graceMs } = options;
  if (child.pid === undefined) return;
  if (graceMs > 0 && !(await hasExited(child, clock, graceMs))) {
    signalGroup(child, 'SIGTERM');
    await hasExited(child, clock, killAfterMs);
  }
  // Also after a polite exit: children of the child may still be there.
  signalGroup(child, 'SIGKILL');
  if (!isGone(child)) await new Promise<void>((resolve) => child.once('exit', () => resolve()));
};

const isGone = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

const hasExited = (child: ChildProcess, clock: Clock, withinMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    if (isGone(child)) {
      resolve(true);
      return;
    }
    const onExit = (): void => {
      timer.stop();
      resolve(true);
    };
    const timer = clock.startTimer(withinMs, () => {
      child.off('exit', onExit);
      resolve(false);
    });
    child.once('exit', onExit);
  });

const signalGroup = (child: ChildProcess, signal: NodeJS.Signals): void => {
  if (child.pid === undefined) return;
  if (process.platform === 'win32') {
    child.kill(signal);
    return;
  }
  try {
    process.kill(-child.pid, signal);
  } catch (error) {
    // ESRCH: nobody is left in the group. EPERM: what is left belongs to another user and is not ours to end.
    if (!['ESRCH', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
  }
};
