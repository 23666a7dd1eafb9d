const longestMs = 60 * 60_000;

/**
 * How often a server wants to be asked for a task, milliseconds; undefined where it says nothing that makes sense: less than one, no finite
 * number, or more than an hour. Whoever waited for what is negative or far too long by a plain timer would ask without a pause.
 */
export const suggestedPollMs = (said: unknown): number | undefined =>
  typeof said === 'number' && said >= 1 && said <= longestMs ? said : undefined;
