import type { RanCall } from './run-calls.ts';

/** Watches the calls of a turn for signs that it leads nowhere. */
export interface CallGuards {
  /** Takes the calls of one answer, in their sequence; gives for each a note to append to its result, where there is one. */
  note(calls: readonly RanCall[]): readonly (string | undefined)[];
  /** Why the turn should come to its end now; not for calls of one answer that failed, before the model could do something about it. */
  verdict(): 'errors' | 'timeouts' | undefined;
  /** Failed calls so far, all together. */
  readonly errors: number;
  /** The last call failed. */
  readonly endedInError: boolean;
}

const repeatsToNote = 3;
const timeoutsToStop = 2;

/** Makes the guards of one turn. */
export const createCallGuards = (options: { readonly maxConsecutiveErrors: number }): CallGuards => {
  let errors = 0;
  let consecutive = 0;
  let timedOutAnswers = 0;
  /** All that failed in a row stood in one answer, so the model has not seen any of it yet. */
  let isUnseen = false;
  let last = '';
  let repeats = 0;
  return {
    note: (calls) => {
      const failedBefore = consecutive;
      if (calls.length > 0) timedOutAnswers = calls.some(isTimeout) ? timedOutAnswers + 1 : 0;
      const notes = calls.map((call) => {
        errors += call.isError ? 1 : 0;
        consecutive = call.isError ? consecutive + 1 : 0;
        const same = JSON.stringify([call.name, call.arguments, call.text]);
        repeats = same === last ? repeats + 1 : 1;
        last = same;
        return repeats >= repeatsToNote
          ? `[Note: this is time ${repeats} in a row that ${call.name} was called with these arguments and gave this result. Calling it again will not change it: try something else, or answer with what you have.]`
          : undefined;
      });
      // What was put before the model begins anew.
      if (calls.some(({ item }) => item)) consecutive = 0;
      isUnseen = failedBefore === 0 && calls.length > 1 && consecutive <= calls.length;
      return notes;
    },
    verdict: () => {
      if (timedOutAnswers >= timeoutsToStop) return 'timeouts';
      return consecutive >= options.maxConsecutiveErrors && !isUnseen ? 'errors' : undefined;
    },
    get errors() {
      return errors;
    },
    get endedInError() {
      return consecutive > 0;
    },
  };
};

const isTimeout = ({ isError, failure, text }: RanCall): boolean =>
  isError && (failure === 'timeout' || /\btimed out\b/i.test(text));
