/** Calls of one answer that run; those beyond get a result that says so. A model that wants more makes them in its next answer. */
export const mostCallsOfAnswer = 200;

/** Calls of one answer that run at the same time. */
export const mostCallsAtOnce = 32;

/** The result of a call that stands beyond the limit. */
export const leftOutText: string = `Not run: only the first ${mostCallsOfAnswer} calls of an answer are run. Make this call again in a later answer if it is still needed, or do the work with fewer calls.`;
