import type { ServerStatus } from 'gantry/mcp';
import { unless } from './compare.ts';
import { asText } from './read-cases.ts';

/** Judges the state of a server; "failed" stands for every state of a server that should be up and is not. */
export const wrongState = (status: ServerStatus, expected: unknown): string[] => {
  const states = expected === 'failed' ? ['unreachable', 'quarantined'] : [expected];
  return unless(states.includes(status.state), `${status.name}: expected the state ${asText(expected)}`, status);
};
