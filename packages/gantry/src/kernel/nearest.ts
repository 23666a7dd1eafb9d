/**
 * The known names closest to a misspelt one, best first: the same letters in another case or with other separators, then
 * by edit distance (at most a third of the length), then names that contain it.
 */
export const nearest = (name: string, known: Iterable<string>, limit = 3): string[] => {
  const wanted = fold(name);
  if (wanted === '') return [];
  const ranked: { candidate: string; rank: number }[] = [];
  const within = Math.max(2, Math.floor(wanted.length / 3));
  for (const candidate of known) {
    const folded = fold(candidate);
    if (folded === '') continue;
    const distance = editDistance(wanted, folded, within);
    if (distance <= within) ranked.push({ candidate, rank: distance });
    else if (wanted.length > 2 && (folded.includes(wanted) || (folded.length > 2 && wanted.includes(folded))))
      ranked.push({ candidate, rank: 100 + Math.abs(folded.length - wanted.length) });
  }
  ranked.sort((a, b) => a.rank - b.rank || (a.candidate < b.candidate ? -1 : 1));
  return ranked.slice(0, limit).map((entry) => entry.candidate);
};

const fold = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Edit distance with adjacent transpositions; gives up with `limit + 1` as soon as it must be exceeded. */
const editDistance = (a: string, b: string, limit: number): number => {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    let best = i;
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (last[j - 1] as number) + (a[i - 1] === b[j - 1] ? 0 : 1);
      let cost = Math.min(substitution, (last[j] as number) + 1, (row[j - 1] as number) + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] as number) + 1);
      row.push(cost);
      best = Math.min(best, cost);
    }
    if (best > limit) return limit + 1;
    beforeLast = last;
    last = row;
  }
  return last[b.length] as number;
};
