import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { abortReason } from '../../kernel/abort.ts';
import type { Clock, Timer } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { ScriptLimit, ScriptLimits } from '../runner.ts';
import { captureOutput } from './captured-output.ts';

/** What a started process is held to. */
export interface SuperviseOptions {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly limits: Pick<ScriptLimits, 'keptOutputBytes' | 'maxOutputBytes'>;
  readonly stdin?: string | undefined;
  /** Ends the process and everything it started. May be called more than once. */
  readonly kill: () => void;
  /** `kill` reaches everybody who could hold the pipes open, so their closing is waited for: then nobody is left. Default false. */
  readonly endsEverything?: boolean | undefined;
  /** Looks, several times a second, at what the kernel does not limit; naming a limit ends the process. */
  readonly watch?: (() => Promise<ScriptLimit | undefined>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** How a process ended. */
export interface ProcessEnd {
  readonly exitCode: number | null;
  readonly signal?: string | undefined;
  readonly stdout: string;
  readonly stderr: string;
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** The limit for which it was ended from here. */
  readonly ended?: ScriptLimit | undefined;
  readonly durationMs: number;
}

const watchEveryMs = 200;
// A process that left the group can hold the pipes open; what it writes then belongs to nobody.
const drainMs = 300;
// Many processes that end at the same time need a while on a busy machine.
const endMs = 10_000;

/**
 * Captures the output of a started process until it has exited, and ends it when it goes over a limit.
 * @throws {GantryError} `cancelled` when the signal aborts, `execution_failed` when the process could not be started.
 */
export const supervise = async (child: ChildProcess, options: SuperviseOptions): Promise<ProcessEnd> => {
  const { clock, timeoutMs, limits, signal } = options;
  const startedMs = clock.elapsedMs();
  const stdout = captureOutput(limits.keptOutputBytes);
  const stderr = captureOutput(limits.keptOutputBytes);
  const timers = new Set<Timer>();
  let ended: ScriptLimit | undefined;
  let over = false;

  const end = (limit: ScriptLimit): void => {
    ended ??= limit;
    options.kill();
  };
  const onAbort = (): void => options.kill();
  const after = (delayMs: number, run: () => void): void => {
    const timer = clock.startTimer(delayMs, () => {
      timers.delete(timer);
      run();
    });
    timers.add(timer);
  };
  const watchAgain = (): void => {
    after(watchEveryMs, () => {
      void options.watch?.().then(
        (limit) => {
          if (over) return;
          if (limit === undefined) watchAgain();
          else end(limit);
        },
        // A folder or process that vanished while it was looked at is looked at again.
        () => over || watchAgain(),
      );
    });
  };
  const capture = (stream: Readable | null, output: typeof stdout): void => {
    stream?.on('data', (chunk: Buffer) => {
      output.add(chunk);
      if (stdout.totalBytes + stderr.totalBytes > limits.maxOutputBytes) end('output');
    });
    // A pipe that breaks under a killed process is no news beside its exit.
    stream?.on('error', () => {});
  };

  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const exited = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', (error) =>
      reject(
        new GantryError('execution_failed', `The script's process could not be started: ${error.message}`, {
          cause: error,
        }),
      ),
    );
    if (child.exitCode !== null || child.signalCode !== null)
      resolve({ code: child.exitCode, signal: child.signalCode });
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });

  try {
    capture(child.stdout, stdout);
    capture(child.stderr, stderr);
    // The script may end without reading its input.
    child.stdin?.on('error', () => {});
    child.stdin?.end(options.stdin ?? '');
    if (signal?.aborted) options.kill();
    else signal?.addEventListener('abort', onAbort, { once: true });
    after(timeoutMs, () => end('time'));
    if (options.watch) watchAgain();

    const exit = await exited;
    // What the script left running ends with it.
    options.kill();
    const drained = new Promise<void>((resolve) => after(options.endsEverything ? endMs : drainMs, resolve));
    await Promise.race([closed, drained]);
    if (signal?.aborted) throw abortReason(signal);
    // A fast one can go over a limit between two looks.
    ended ??= await options.watch?.();
    const killedBy = exit.signal ?? signalOfExit(exit.code);
    return {
      exitCode: killedBy === undefined ? exit.code : null,
      signal: killedBy,
      stdout: stdout.toText(),
      stderr: stderr.toText(),
      stdoutBytes: stdout.totalBytes,
      stderrBytes: stderr.totalBytes,
      ended,
      durationMs: clock.elapsedMs() - startedMs,
    };
  } finally {
    over = true;
    for (const timer of timers) timer.stop();
    signal?.removeEventListener('abort', onAbort);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
  }
};

// Some numbers have a second, older name behind the usual one.
const signalNames = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name]),
);

/** Launchers report a script that a signal ended as exit code 128 + number. */
const signalOfExit = (code: number | null): string | undefined =>
  code !== null && code > 128 && code < 128 + 32 ? signalNames.get(code - 128) : undefined;
