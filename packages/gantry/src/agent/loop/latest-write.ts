import { giveWay } from '../../kernel/side-by-side.ts';

/** Writes something that changes often. */
export interface LatestWrite {
  /** Has what there is now written soon: with all that changes until then, and never while another write goes on. */
  request(): void;
  /** Resolves when the last request has been written. @throws what a write threw. */
  settled(): Promise<void>;
}

/** Makes it; `write` writes all that there is. */
export const createLatestWrite = (write: () => Promise<void>): LatestWrite => {
  let isRequested = false;
  let failure: { readonly error: unknown } | undefined;
  let writing: Promise<void> | undefined;
  const drain = async (): Promise<void> => {
    while (isRequested) {
      // What changes together is written together.
      await giveWay();
      isRequested = false;
      try {
        await write();
      } catch (error) {
        // Nobody may be listening yet.
        failure = { error };
        isRequested = false;
      }
    }
    writing = undefined;
  };
  return {
    request: () => {
      if (failure) return;
      isRequested = true;
      writing ??= drain();
    },
    settled: async () => {
      await writing;
      if (failure) throw failure.error;
    },
  };
};
