import type { ToolFamily } from '../../tool/tool-family.ts';

/** How a configured server stands. */
export type ServerState =
  /** Starts on first use. */
  | 'idle'
  | 'connecting'
  | 'connected'
  | 'unreachable'
  /** Keeps failing; left alone until a cool-down ends. */
  | 'quarantined'
  | 'needs_login'
  /** The entry itself is bad. */
  | 'refused'
  /** A program to launch, and launching is not switched on. */
  | 'skipped'
  | 'disabled';

/** One server as `gantry servers list` shows it. */
export interface ServerStatus {
  readonly name: string;
  readonly id: string;
  readonly state: ServerState;
  /** How Gantry reaches it. */
  readonly transport: 'streamable-http' | 'sse' | 'stdio' | 'auto';
  readonly protocolVersion: string | null;
  readonly tools: number;
  readonly prompts: number;
  readonly resources: number;
  readonly fingerprint: string | null;
  /** Which bundled tool it takes the place of, while it can be called and offers a tool. */
  readonly family?: ToolFamily | undefined;
  readonly origin: 'operator' | 'agent';
  /** Why it is not connected, or what last went wrong; no secret. */
  readonly lastError?: string | undefined;
}
