import { toSignature } from './signature.ts';

/** One way in which a value breaks its schema. */
export interface Fault {
  /** Where, as `a.b[2]`; empty for the whole value. For a missing or unknown key it includes the key. */
  readonly path: string;
  /** What is wrong there, in words that follow the path: `must be an integer, but a string ("12abc") came`. */
  readonly problem: string;
  /** What sort of fault it is. `schema`: the schema itself cannot be used, or could not be checked in time. */
  readonly kind: 'missing' | 'unknown' | 'type' | 'value' | 'schema';
}

const maxChars = 600;

/**
 * What is wrong with the arguments, for the model that has to send them again: each fault with its place, then the form that is wanted. At
 * most 600 characters; faults that find no room are counted.
 */
export const describeFaults = (faults: readonly Fault[], options: { schema: unknown }): string => {
  // What an unusable schema asks for cannot be told from it.
  const isUsable = faults.every((fault) => fault.kind !== 'schema');
  const ending = isUsable ? `Send ${toSignature(options.schema, { maxChars: 240 })}` : '';
  const room = maxChars - ending.length - 32;
  const said: string[] = [];
  let used = 0;
  for (const fault of faults) {
    const sentence = sentenceOf(fault).slice(0, said.length === 0 ? room : undefined);
    if (used + sentence.length + 1 > room && said.length > 0) break;
    said.push(sentence);
    used += sentence.length + 1;
  }
  const more = faults.length - said.length;
  return [...said, ...(more > 0 ? [`And ${more} more.`] : []), ending].join(' ').trimEnd();
};

const sentenceOf = ({ path, problem }: Fault): string =>
  path === '' ? `The arguments ${problem.replace(/^is /, 'are ').replace(/^fits /, 'fit ')}.` : `"${path}" ${problem}.`;
