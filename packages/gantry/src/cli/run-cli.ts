import { CommanderError } from 'commander';
import { GantryError, messageOf } from '../kernel/errors.ts';
import type { CliHost } from './cli-host.ts';
import type { CliIo } from './cli-io.ts';
import type { ExitCode } from './command-context.ts';
import { exitCodeOf } from './exit-code.ts';
import { toPlainJson } from './output/printable.ts';
import { tellPerson } from './output/tell-person.ts';
import { createProgram } from './program.ts';

const interruptedCode = 130;

/** Runs one command line (without the names of runtime and program) and gives its exit code. */
export const runCli = async (argv: readonly string[], io: CliIo, host: CliHost): Promise<number> => {
  let finished: ExitCode | undefined;
  try {
    await createProgram(io, host, (code) => (finished = code)).parseAsync(argv, { from: 'user' });
    return finished ?? 0;
  } catch (error) {
    return tell(error, argv, io);
  }
};

const tell = (error: unknown, argv: readonly string[], io: CliIo): number => {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return 0;
    // The message has been written by the parser; a group without a command has printed its help.
    if (wantsJson(argv)) tellJson('usage', plain(error.message), io);
    return 2;
  }
  if (io.interrupted.aborted) {
    io.stderr.write('gantry: interrupted\n');
    return interruptedCode;
  }
  const message = messageOf(error);
  if (wantsJson(argv)) tellJson(GantryError.is(error) ? error.code : 'execution_failed', message, io);
  tellPerson(io, `gantry: ${message}`);
  return exitCodeOf(error);
};

// Arguments that make no sense have not been parsed, but what the caller wants printed is clear all the same.
const wantsJson = (argv: readonly string[]): boolean => argv.includes('--json');

const tellJson = (code: string, message: string, io: CliIo): void =>
  void io.stdout.write(`${toPlainJson({ error: { code, message } })}\n`);

const plain = (message: string): string => message.replace(/^error: /, '').replaceAll('\n', ' ');
