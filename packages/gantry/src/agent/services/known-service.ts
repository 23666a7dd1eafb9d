import type { CallContext } from '../../tool/context.ts';

/** Something outside that can be asked for work: an MCP server, or another agent. */
export interface KnownService {
  /** Name by which it is reached. */
  readonly id: string;
  readonly type: 'mcp' | 'a2a';
  /** What it is for, on one line. */
  readonly summary: string;
  /** All that is said of it, to be searched. */
  readonly text: string;
  /** Names of its tools or skills that fit the query best, at most so many. */
  readonly topFor: (query: string, limit: number) => readonly string[];
}

/** The services that a caller may reach now. Read at every search, so that what has gone is not found. */
export type ServiceSource = (context: CallContext) => readonly KnownService[];
