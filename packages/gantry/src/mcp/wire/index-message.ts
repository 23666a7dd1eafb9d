/** What the bridge announces about its servers; published on `tool.meta.mcp.{agent}` with trust `system`. */
export const serversIndexedType = 'McpServersIndexed';

/** One connected server as the agent side knows it. Carries no schemas: those are asked for. */
export interface ServerSummary {
  readonly serverName: string;
  readonly displayName?: string | undefined;
  /** 12 hex digits, written by the bridge; stays with the entry when it is renamed. */
  readonly serverId: string;
  readonly summary: string;
  readonly toolCount: number;
  readonly toolNames: readonly string[];
  readonly promptCount: number;
  readonly promptNames: readonly string[];
  readonly resourceCount: number;
  readonly resourceNames: readonly string[];
  /** SHA-256 of the whole surface; null when a list could not be read, so nothing can be said about change. */
  readonly fingerprint: string | null;
  /** SHA-256 by tool name. */
  readonly toolFingerprints: Readonly<Record<string, string>>;
  readonly version?: string | undefined;
  /** First 16 hex digits of the hash of what makes the entry this server. */
  readonly identityHash: string;
  /** The server may hand questions back to the calling agent. */
  readonly handback: boolean;
  /** The server runs background tasks. */
  readonly tasks: boolean;
}

/** The message: servers that are there or changed, and names that are gone. Servers not named are as they were. */
export interface McpServersIndexed {
  readonly servers: readonly ServerSummary[];
  readonly removedServers: readonly string[];
}
