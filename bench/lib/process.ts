import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

/** A process under measurement; disposing ends it. */
export interface Measured extends AsyncDisposable {
  readonly pid: number;
  /** Everything it wrote so far. */
  output(): string;
}

/** Starts a program of this Node in a process group of its own. */
export const startNode = (
  args: readonly string[],
  options: { cwd?: string | undefined; env?: Readonly<Record<string, string>> | undefined } = {},
): Measured => {
  const child: ChildProcess = spawn(process.execPath, [...args], {
    cwd: options.cwd,
    // Certificates that a machine adds are read at each start, by a thread of their own; not every machine has some.
    env: { ...process.env, NODE_OPTIONS: '', NODE_EXTRA_CA_CERTS: '', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  let text = '';
  child.stdout?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  child.stderr?.on('data', (chunk: Buffer) => (text += chunk.toString()));
  return {
    pid: child.pid as number,
    output: () => text,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      const stopped = await Promise.race([gone.then(() => true), pause(8000, false)]);
      if (!stopped) {
        process.kill(-(child.pid as number), 'SIGKILL');
        await gone;
      }
    },
  };
};

/** Resident and peak memory of a process, MB. */
export const memoryOf = (pid: number): { readonly rssMb: number; readonly peakMb: number } => {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const field = (key: string): number => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0) / 1024;
  return { rssMb: field('VmRSS'), peakMb: field('VmHWM') };
};

/** CPU milliseconds (user and system) a process has used, without its children. */
export const cpuMsOf = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
};

/** Tries again every few milliseconds until it works; gives how long that took. */
export const untilReady = async (probe: () => Promise<unknown>, limitMs = 30_000): Promise<number> => {
  const startedMs = performance.now();
  for (;;) {
    try {
      await probe();
      return performance.now() - startedMs;
    } catch (error) {
      if (performance.now() - startedMs > limitMs) throw error;
      await pause(5);
    }
  }
};
