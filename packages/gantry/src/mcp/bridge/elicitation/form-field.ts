import { flattenText } from '../../../text/flatten.ts';

/** One thing that a choice offers. */
export interface FieldOption {
  /** What an answer holds, exactly as the server wrote it; flatten it before it is shown. */
  readonly value: string;
  /** What a person is shown instead, on one line. */
  readonly title?: string | undefined;
}

/** One field of a server's question. Plain JSON, so it can be kept. */
export interface FormField {
  /** The key of the answer, exactly as the server wrote it; flatten it before it is shown. */
  readonly name: string;
  /** On one line. */
  readonly title?: string | undefined;
  /** On one line, at most 4,000 characters. */
  readonly description?: string | undefined;
  readonly type: 'string' | 'number' | 'integer' | 'boolean' | 'choice' | 'choices';
  readonly required: boolean;
  /** Of a `choice` or `choices`; at least one. */
  readonly options?: readonly FieldOption[] | undefined;
  /** In characters, not UTF-16 units. */
  readonly minLength?: number | undefined;
  readonly maxLength?: number | undefined;
  /** Forms with others than these four, which are all that MCP has, are not read. */
  readonly format?: 'email' | 'uri' | 'date' | 'date-time' | undefined;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly minItems?: number | undefined;
  readonly maxItems?: number | undefined;
  /** What the server takes when the field is left out; absent when it does not fit the field itself. */
  readonly default?: FieldValue | undefined;
}

/** What a field can hold. */
export type FieldValue = string | number | boolean | readonly string[];

/** A name of a field, or the value of an option, as it may stand in a sentence. */
export const shownName = (name: string): string => flattenText(name, { maxChars: 100 });
