/** The values of a tool's `mode` argument. */
export const readModes = ['auto', 'full', 'article'] as const;
