/** Resolves when all else that is due has had its turn: long work that waits for nothing would keep everybody waiting. */
export const giveWay = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

/**
 * Does the work for each item, at most `most` of them at a time, and gives the results in the sequence of the items. Between two items others
 * have their turn.
 * @throws what the work throws first; nothing is begun after that.
 */
export const sideBySide = async <Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> => {
  const results: Result[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const at = next;
      next += 1;
      results[at] = await work(items[at] as Item);
      await giveWay();
    }
  };
  try {
    await Promise.all(Array.from({ length: Math.min(most, items.length) }, lane));
    return results;
  } finally {
    next = items.length;
  }
};
