import type { Clock } from '../kernel/clock.ts';

/** Where text goes to. */
export interface TextSink {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  /** Width of the terminal in columns. */
  readonly columns?: number | undefined;
}

/** What a command has of the outside world. */
export interface CliIo {
  /** Results, and nothing else. */
  readonly stdout: TextSink;
  /** Logs, progress and what went wrong. */
  readonly stderr: TextSink;
  readonly stdin: AsyncIterable<Buffer | string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** Aborts when the user interrupts the command. */
  readonly interrupted: AbortSignal;
}
