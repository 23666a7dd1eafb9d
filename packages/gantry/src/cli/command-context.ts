import type { CliHost } from './cli-host.ts';
import type { CliIo } from './cli-io.ts';

/** Flags that every command takes. */
export interface GlobalFlags {
  readonly config?: string | undefined;
  readonly mcp?: string | undefined;
  readonly data?: string | undefined;
  readonly logLevel?: string | undefined;
  readonly url?: string | undefined;
  readonly json?: boolean | undefined;
}

/** What a command works with. */
export interface CommandContext {
  readonly io: CliIo;
  readonly host: CliHost;
  readonly flags: GlobalFlags;
}

/** How a command came out: 0 done, 1 the operation failed, 2 wrong usage or configuration; 130 or 143 a chat that a signal ended. */
export type ExitCode = 0 | 1 | 2 | 130 | 143;

/** A command: prints its result and says how it came out. What it throws is told in one place. */
export type Command<Args extends readonly unknown[]> = (context: CommandContext, ...args: Args) => Promise<ExitCode>;
