/** Percentiles of a set of samples. */
export interface Stats {
  readonly n: number;
  readonly p50: number;
  readonly p99: number;
}

/** Sorts a copy and reads the percentiles. */
export const statsOf = (samples: readonly number[]): Stats => {
  const sorted = samples.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { n: sorted.length, p50: at(0.5), p99: at(0.99) };
};

/** Median, smallest and largest, as they are reported. */
export const spreadOf = (
  values: readonly number[],
): { readonly median: number; readonly min: number; readonly max: number } => {
  const sorted = values.toSorted((a, b) => a - b);
  return { median: statsOf(sorted).p50, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
};

/** A number with three digits that count. */
export const show = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));

/** `median (min–max)` with a unit. */
export const showSpread = (values: readonly number[], unit: string): string => {
  const { median, min, max } = spreadOf(values);
  return `${show(median)} ${unit} (${show(min)}–${show(max)})`;
};

/** Runs `call` one after another and measures each, milliseconds. */
export const sequentially = async (call: () => Promise<unknown>, count: number): Promise<Stats> => {
  const samples: number[] = [];
  for (let index = 0; index < count; index += 1) {
    const startedMs = performance.now();
    await call();
    samples.push(performance.now() - startedMs);
  }
  return statsOf(samples);
};

/** Keeps `width` calls in flight until `count` are done; also gives calls a second. */
export const concurrently = async (
  call: () => Promise<unknown>,
  count: number,
  width: number,
): Promise<Stats & { readonly perSecond: number }> => {
  const samples: number[] = [];
  let left = count;
  const startedMs = performance.now();
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const callStartedMs = performance.now();
      await call();
      samples.push(performance.now() - callStartedMs);
    }
  };
  await Promise.all(Array.from({ length: width }, worker));
  return { ...statsOf(samples), perSecond: (count * 1000) / (performance.now() - startedMs) };
};
