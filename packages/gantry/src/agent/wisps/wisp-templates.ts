import type { Json } from '../../kernel/json.ts';
import { isObject } from '../../kernel/json.ts';

/** A reference to what an earlier step gave. */
export interface TemplateReference {
  /** As it stands in the text. */
  readonly text: string;
  readonly stepId: string;
  readonly field: string;
}

/** What steps gave so far; undefined where a reference leads to nothing. */
export type ValueOf = (reference: TemplateReference) => string | undefined;

const reference = /\{\{\s*steps\.([^{}\s]+)\.(\w+)\s*\}\}/g;

/** The references in a value, at every depth. */
export const referencesIn = (value: Json | undefined): readonly TemplateReference[] => {
  if (typeof value === 'string')
    return [...value.matchAll(reference)].map(([text, stepId = '', field = '']) => ({ text, stepId, field }));
  if (Array.isArray(value)) return value.flatMap((item) => referencesIn(item));
  if (isObject(value)) return Object.values(value).flatMap((member) => referencesIn(member as Json));
  return [];
};

/** How many characters the references in a value come to when they are filled in, without doing it. */
export const filledChars = (value: Json | undefined, valueOf: ValueOf): number =>
  referencesIn(value).reduce((sum, found) => sum + (valueOf(found)?.length ?? 0), 0);

/**
 * A text with what its references lead to in their place. It is put in as it is, in one pass: what a step gave is never read as a
 * template. A reference that leads to nothing stays.
 */
export const fillText = (text: string, valueOf: ValueOf): string =>
  text.replaceAll(
    reference,
    (whole, stepId: string, field: string) => valueOf({ text: whole, stepId, field }) ?? whole,
  );

/** The same for the strings of a value, at every depth; so whatever is put in, the value stays valid JSON. */
export const fillValue = (value: Json, valueOf: ValueOf): Json => {
  if (typeof value === 'string') return fillText(value, valueOf);
  if (Array.isArray(value)) return value.map((item: Json) => fillValue(item, valueOf));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fillValue(member ?? null, valueOf)]));
};
