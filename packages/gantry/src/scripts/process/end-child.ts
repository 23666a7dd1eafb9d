import type { ChildProcess } from 'node:child_process';

/** Whether a child process was started and has not ended. */
export const isRunning = (child: ChildProcess): boolean =>
  child.pid !== undefined && child.exitCode === null && child.signalCode === null;

/** Ends a process that nobody uses, and waits until all that hold its pipes are gone. */
export const endChild = async (child: ChildProcess, kill: (child: ChildProcess) => void): Promise<void> => {
  const closed = isRunning(child) ? new Promise((resolve) => child.once('close', resolve)) : undefined;
  kill(child);
  const [input, output, errors, ...others] = child.stdio;
  for (const stream of [input, ...others]) stream?.destroy();
  for (const stream of [output, errors]) stream?.resume();
  await closed;
};
