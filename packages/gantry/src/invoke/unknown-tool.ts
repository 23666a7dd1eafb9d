import { nearest } from '../kernel/nearest.ts';
import { flattenText } from '../text/flatten.ts';
import type { MissingHint } from '../tool/missing-hint.ts';

/** What is known about a name that no tool has. */
export interface UnknownTool {
  readonly name: string;
  /** The names that the caller may run; no other is ever told. */
  readonly callable: Iterable<string>;
  readonly hint?: MissingHint | undefined;
  /** How the caller finds more tools, as a sentence. */
  readonly howToFind?: string | undefined;
}

const mostNear = 3;
/** A list that is longer would cost more than a search. */
const mostListed = 40;

/**
 * Tells a caller that no tool has the name of his call, and what he can call in its place: near names; all names while they are few; else
 * how to find one. A model that does only what errors say gets on from it.
 */
export const unknownToolText = ({ name, callable, hint = {}, howToFind }: UnknownTool): string => {
  const names = [...new Set(callable)];
  const near = [...new Set([...(hint.near ?? []), ...nearest(name, names)])].slice(0, mostNear);
  const isListed = names.length <= mostListed;
  // Who is told why, or what to do, needs no list.
  const more = hint.text === undefined ? [isListed ? allOf(names) : undefined, howToFind] : [hint.text];
  const told = [near.length > 0 ? `Did you mean ${near.join(', ')}?` : undefined, ...more].filter(
    (sentence) => sentence !== undefined,
  );
  if (told.length === 0) told.push(firstOf(names));
  const shown = flattenText(name, { maxChars: 100 });
  return [`There is no tool named "${shown}" that you can call.`, ...told].join(' ');
};

const allOf = (names: readonly string[]): string =>
  names.length === 0 ? 'There is none that you can call.' : `You can call: ${names.join(', ')}.`;

const firstOf = (names: readonly string[]): string =>
  `You can call ${names.slice(0, mostListed).join(', ')} and ${names.length - mostListed} more.`;
