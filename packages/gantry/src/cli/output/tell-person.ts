import type { CliIo } from '../cli-io.ts';
import { toStyledText } from './printable.ts';

/** Writes lines to the person at the terminal, on standard error. Whoever wrote what is in them does not steer the terminal. */
export const tellPerson = ({ stderr }: Pick<CliIo, 'stderr'>, lines: string): void =>
  void stderr.write(`${toStyledText(lines)}\n`);
