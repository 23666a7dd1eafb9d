import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

/** Whether a child process was started and has not ended. */
export const isRunning = (child: ChildProcess): boolean =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/**
 * Ends the process group of a child that was started as the leader of its own (`detached`). Does nothing when nobody is left in it.
 */
export const killGroup = (child: ChildProcess): void => {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
};

// Whoever holds the pipes for longer than this was not started by the script.
const closeMs = 1000;

/** Ends a process that nobody uses, and waits until it and those that hold its pipes are gone. */
export const endChild = async (child: ChildProcess, kill: (child: ChildProcess) => void): Promise<void> => {
  const running = isRunning(child);
  const exited = running ? once(child, 'exit') : undefined;
  const over = new AbortController();
  const closed = running ? once(child, 'close', { signal: over.signal }).catch(() => {}) : undefined;
  kill(child);
  const [input, output, errors, ...others] = child.stdio;
  for (const stream of [input, ...others]) stream?.destroy();
  for (const stream of [output, errors]) stream?.resume();
  await exited;
  // No timer of a clock, which would not keep the process alive for it.
  await Promise.race([closed, wait(closeMs, undefined, { signal: over.signal }).catch(() => {})]);
  over.abort();
};
