import type { FieldCase } from './read-cases.ts';

/** How a case came out. */
export type Verdict =
  | { readonly outcome: 'passed' }
  /** One line per expectation that did not hold, with what came instead. */
  | { readonly outcome: 'failed'; readonly problems: readonly string[] }
  | { readonly outcome: 'not covered'; readonly reason: string };

/** Runs a case of one kind. Gives what went wrong, one line each; throws {@link NotCovered} for what it cannot run or read. */
export type Handler = (fieldCase: FieldCase) => Promise<readonly string[]>;

/** Thrown when a case asks for something that this runner cannot read or the product does not do yet. */
export class NotCovered extends Error {}

const remarks: ReadonlySet<string> = new Set(['note', 'why', 'comment']);

/** Refuses members that nobody reads, so that no case passes on half of its expectation. */
export const refuseUnread = (value: object, subject: string, read: readonly string[]): void => {
  const unread = Object.keys(value).filter((key) => !read.includes(key) && !remarks.has(key));
  if (unread.length > 0) throw new NotCovered(`${subject} has ${unread.join(', ')}, which this runner does not read`);
};
