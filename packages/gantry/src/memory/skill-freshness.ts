/** A server at the moment when something was written about it. */
export interface ServerBaseline {
  readonly serverName: string;
  readonly serverId: string;
  /** Hash of everything that the server offers. */
  readonly fingerprint: string;
  readonly version?: string | undefined;
  /** Hash of what makes its entry this server. */
  readonly identityHash: string;
}

/** A server as it is now; `fingerprint` is null when it could not be read. */
export type ServerNow = Omit<ServerBaseline, 'fingerprint'> & { readonly fingerprint: string | null };

/** How what was written about a server stands to the server as it is now. */
export type Freshness =
  | { readonly state: 'unknown' | 'fresh' }
  | { readonly state: 'stale'; readonly reason: string }
  | { readonly state: 'renamed'; readonly nowNamed: string };

/** The server that a skill is about: `mcp/{server}`, or below it. */
export const serverOfSkill = (skill: string): string | undefined => /^mcp\/([^/]+)/.exec(skill)?.[1];

/** What to keep of a server with a skill about it; nothing of one that could not be read. */
export const baselineOf = (skill: string, servers: readonly ServerNow[]): ServerBaseline | undefined => {
  const name = serverOfSkill(skill);
  const server = servers.find(({ serverName }) => serverName.toLowerCase() === name?.toLowerCase());
  if (!server || server.fingerprint === null) return undefined;
  const { serverName, serverId, fingerprint, version, identityHash } = server;
  return { serverName, serverId, fingerprint, version, identityHash };
};

/** Compares a baseline with the servers of now. Without one, or while the server cannot be read, nothing can be said. */
export const freshnessOf = (baseline: ServerBaseline | undefined, servers: readonly ServerNow[]): Freshness => {
  if (!baseline) return { state: 'unknown' };
  const named = servers.find(({ serverName }) => serverName.toLowerCase() === baseline.serverName.toLowerCase());
  const isSame = (server: ServerNow): boolean =>
    server.serverId === baseline.serverId || server.identityHash === baseline.identityHash;
  if (!named || !isSame(named)) {
    const renamed = servers.find(isSame);
    if (renamed) return { state: 'renamed', nowNamed: renamed.serverName };
    return named ? { state: 'stale', reason: `"${baseline.serverName}" is another server now` } : { state: 'unknown' };
  }
  if (named.fingerprint === null) return { state: 'unknown' };
  if (named.fingerprint !== baseline.fingerprint)
    return { state: 'stale', reason: 'the server offers other tools or descriptions now' };
  return named.version === baseline.version
    ? { state: 'fresh' }
    : { state: 'stale', reason: `the server has version ${named.version ?? 'unknown'} now` };
};
