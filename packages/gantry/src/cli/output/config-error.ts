import { toCell } from './printable.ts';
import type { Printer } from './printer.ts';

/** Says that a list does not show what the file of servers says now, because that cannot be read. */
export const noteConfigError = (
  { configError }: { readonly configError?: string | undefined },
  printer: Printer,
): void => {
  if (configError !== undefined) printer.note(`The file of servers cannot be read: ${toCell(configError)}`);
};
