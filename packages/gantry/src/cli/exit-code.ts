import type { GantryErrorCode } from '../kernel/errors.ts';
import { GantryError } from '../kernel/errors.ts';
import type { ExitCode } from './command-context.ts';

/** What the user has to put right before the same command can work. */
const wrongUsage: ReadonlySet<GantryErrorCode> = new Set([
  'usage',
  'invalid_arguments',
  'config_invalid',
  'port_in_use',
  'data_dir_unwritable',
  'data_dir_locked',
  'plugin_unresolved',
  'package_missing',
  'model_missing',
  'store_too_new',
  'store_unavailable',
]);

/** The exit code for anything thrown. */
export const exitCodeOf = (thrown: unknown): ExitCode =>
  GantryError.is(thrown) && wrongUsage.has(thrown.code) ? 2 : 1;

/** The exit code of a chat that a signal ended, by the reason of its interruption: 128 and the number of the signal, as shells have it. */
export const interruptedCodeOf = (reason: unknown): 130 | 143 =>
  GantryError.is(reason) && reason.details['signal'] === 'SIGTERM' ? 143 : 130;
