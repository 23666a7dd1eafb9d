/** Vectors of one length as bits: enough to tell which are worth a closer look, and quick to compare. */
export interface Sketches {
  set(id: string, vector: Float32Array): void;
  delete(id: string): void;
  /** All ids, those first whose bits differ least from the vector's. */
  nearestFirst(vector: Float32Array): Iterable<string>;
}

const bits = 32;

/**
 * Makes an empty set of sketches. Each number of a vector becomes one bit: whether it lies above that of `centre`. With the mean of the
 * vectors as centre bits tell most, because vectors of one model share much of their direction.
 */
export const createSketches = (centre: Float32Array): Sketches => {
  const ids: string[] = [];
  const slots = new Map<string, number>();
  const width = Math.ceil(centre.length / bits);
  let table = new Uint32Array(0);

  const toBits = (vector: Float32Array): Uint32Array => {
    const words = new Uint32Array(width);
    for (let at = 0; at < vector.length; at += 1)
      if (vector[at]! > centre[at]!) words[Math.floor(at / bits)]! |= 1 << (at % bits);
    return words;
  };

  return {
    set: (id, vector) => {
      const slot = slots.get(id) ?? ids.length;
      ids[slot] = id;
      slots.set(id, slot);
      if (table.length < (slot + 1) * width) {
        const larger = new Uint32Array((slot + 1) * width * 2);
        larger.set(table);
        table = larger;
      }
      table.set(toBits(vector), slot * width);
    },
    delete: (id) => {
      const slot = slots.get(id);
      if (slot === undefined) return;
      const last = ids.pop() as string;
      slots.delete(id);
      if (slot === ids.length) return;
      // The last one moves into the gap.
      ids[slot] = last;
      slots.set(last, slot);
      table.copyWithin(slot * width, ids.length * width, (ids.length + 1) * width);
    },
    nearestFirst: function* (vector) {
      const query = toBits(vector);
      const byDistance: number[][] = [];
      for (let slot = 0; slot < ids.length; slot += 1) {
        let distance = 0;
        for (let at = 0, cell = slot * width; at < width; at += 1, cell += 1)
          distance += countBits(table[cell]! ^ query[at]!);
        (byDistance[distance] ??= []).push(slot);
      }
      for (const sameDistance of byDistance) for (const slot of sameDistance ?? []) yield ids[slot] as string;
    },
  };
};

const countBits = (word: number): number => {
  let v = word - ((word >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
};
