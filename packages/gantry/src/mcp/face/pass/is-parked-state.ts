/** How the state of a request begins that waits for its client. */
export const parkedPrefix = 'gantry.parked.';

/** Whether a state says that a request goes on which waits. With such a state no request begins. */
export const isParkedState = (state: unknown): state is string =>
  typeof state === 'string' && state.startsWith(parkedPrefix);
