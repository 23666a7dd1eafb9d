/** Which ids are due when; keeps the earliest at hand however many there are. Times are epoch milliseconds. */
export interface DueIndex {
  readonly size: number;
  /** Puts an id at a time, in place of the one it had. */
  set(id: string, atMs: number): void;
  remove(id: string): void;
  clear(): void;
  /** The earliest time. */
  nextMs(): number | undefined;
  /** Takes the earliest id out if it is due by then. */
  takeDue(nowMs: number): string | undefined;
}

interface Entry {
  readonly id: string;
  readonly atMs: number;
}

/** Makes an empty index: a binary heap whose outdated entries are dropped when they come up. */
export const createDueIndex = (): DueIndex => {
  const current = new Map<string, Entry>();
  let heap: Entry[] = [];

  const push = (entry: Entry): void => {
    let child = heap.push(entry) - 1;
    while (child > 0) {
      const parent = (child - 1) >> 1;
      const above = heap[parent] as Entry;
      if (above.atMs <= entry.atMs) break;
      heap[child] = above;
      child = parent;
    }
    heap[child] = entry;
  };

  const pop = (): void => {
    const last = heap.pop() as Entry;
    if (heap.length === 0) return;
    let hole = 0;
    for (;;) {
      let child = 2 * hole + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && (heap[child + 1] as Entry).atMs < (heap[child] as Entry).atMs) child += 1;
      const below = heap[child] as Entry;
      if (below.atMs >= last.atMs) break;
      heap[hole] = below;
      hole = child;
    }
    heap[hole] = last;
  };

  const top = (): Entry | undefined => {
    for (let entry = heap[0]; entry; entry = heap[0]) {
      if (current.get(entry.id) === entry) return entry;
      pop();
    }
    return undefined;
  };

  return {
    get size() {
      return current.size;
    },
    set: (id, atMs) => {
      const entry = { id, atMs };
      current.set(id, entry);
      push(entry);
      // Outdated entries may not outnumber the others, or a task that is replaced for ever would grow without end.
      if (heap.length > 2 * current.size + 64) {
        heap = [];
        for (const kept of current.values()) push(kept);
      }
    },
    remove: (id) => void current.delete(id),
    clear: () => {
      current.clear();
      heap = [];
    },
    nextMs: () => top()?.atMs,
    takeDue: (nowMs) => {
      const entry = top();
      if (!entry || entry.atMs > nowMs) return undefined;
      pop();
      current.delete(entry.id);
      return entry.id;
    },
  };
};
