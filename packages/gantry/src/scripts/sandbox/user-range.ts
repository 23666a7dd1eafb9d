import { readFileSync, readlinkSync } from 'node:fs';
import { GantryError } from '../../kernel/errors.ts';

/** Ids from which the users of scripts are taken. */
export interface UserRange {
  readonly first: number;
  readonly count: number;
}

const ownCount = 4096;
const ownFirst = 1_000_000_000;
// With as many ids each they end below 2^31, beyond which programs begin to read ids as negative numbers.
const mostNamespaces = 2 ** 18;
// Debian's policy keeps these free of accounts. Containers with user namespaces have no ids above 65,535.
const containerRange: UserRange = { first: 30_000, count: 30_000 };

/**
 * The ids that scripts of this process may use: no account has them, and containers with another network namespace on the same
 * machine have others, unless their user namespace makes all their ids their own.
 * @throws {GantryError} `execution_failed` where the container has no such ids.
 */
export const userRange = (): UserRange =>
  rangeOf({
    userMap: readFileSync('/proc/self/uid_map', 'utf8'),
    groupMap: readFileSync('/proc/self/gid_map', 'utf8'),
    networkNamespace: readlinkSync('/proc/self/ns/net'),
  });

/** The same from what the kernel says: the two maps as in `/proc/self`, and the name of the network namespace (`net:[4026531840]`). */
export const rangeOf = (facts: {
  readonly userMap: string;
  readonly groupMap: string;
  readonly networkNamespace: string;
}): UserRange => {
  const isMapped = (range: UserRange): boolean =>
    [facts.userMap, facts.groupMap].every((map) => rowsOf(map).some((row) => holds(row, range)));
  // The numbers of namespaces are given out one after another, so remainders do not meet.
  const namespace = Number(/\d+/.exec(facts.networkNamespace)?.[0] ?? 0) % mostNamespaces;
  const own = { first: ownFirst + namespace * ownCount, count: ownCount };
  const range = [own, containerRange].find(isMapped);
  if (range) return range;
  throw new GantryError(
    'execution_failed',
    `Scripts need users of their own, and this container has none to give: map the user and group ids ${containerRange.first} to ${containerRange.first + containerRange.count - 1} into it, or run Gantry in it as another user than root.`,
  );
};

/** Rows of `first, first outside, count`. */
const rowsOf = (map: string): readonly UserRange[] =>
  map
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, , count = 0]) => ({ first, count }));

const holds = (row: UserRange, range: UserRange): boolean =>
  row.first <= range.first && row.first + row.count >= range.first + range.count;
