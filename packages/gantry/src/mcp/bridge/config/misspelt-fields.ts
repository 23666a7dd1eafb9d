import { nearest } from '../../../kernel/nearest.ts';
import { flattenText } from '../../../text/flatten.ts';
import { entryFields } from './server-entry.ts';

/** A field that was probably meant to be another, which has no effect so. */
export interface MisspeltField {
  readonly written: string;
  readonly meant: string;
}

// Without one of these a server could do more than its entry says.
const protections: ReadonlySet<string> = new Set([
  'allowedTools',
  'deniedTools',
  'argGuards',
  'disabled',
  'elicitation',
  'sampling',
]);

/** Fields of an entry that are written nearly like one that Gantry knows. Entries may have any others, for other programs. */
export const misspeltFields = (entry: object): readonly MisspeltField[] =>
  Object.keys(entry).flatMap((written) => {
    if (entryFields.includes(written)) return [];
    const same = entryFields.find((field) => field.toLowerCase() === written.toLowerCase());
    // A word that only contains another, such as "tools", is one of its own.
    const isNear = (field: string): boolean => Math.abs(field.length - written.length) <= 2;
    const meant = same ?? nearest(written, entryFields).find(isNear);
    return meant === undefined ? [] : [{ written: flattenText(written, { maxChars: 60 }), meant }];
  });

/** Whether leaving the field out opens something that was to be closed. */
export const isProtection = ({ meant }: MisspeltField): boolean => protections.has(meant);
