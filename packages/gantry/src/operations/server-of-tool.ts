import type { ServerState, ServerStatus } from '../mcp/wire/server-state.ts';
import { typedToolName } from '../schema/tool-name.ts';

/** The configured server whose tools have names that begin like this one (`{server}__{tool}`), or undefined. */
export const serverOfTool = (toolName: string, servers: readonly ServerStatus[]): ServerStatus | undefined =>
  servers
    .filter(({ name }) => toolName.startsWith(typedToolName(name, '')))
    .reduce<ServerStatus | undefined>(
      (longest, server) => (longest && longest.name.length >= server.name.length ? longest : server),
      undefined,
    );

/** Why the tools of the server that this name belongs to are not there, as a sentence; undefined when that is not why. */
export const whyMissing = (toolName: string, servers: readonly ServerStatus[]): string | undefined => {
  const server = serverOfTool(toolName, servers);
  if (!server || serving.has(server.state)) return undefined;
  const { lastError } = server;
  const reason =
    lastError === undefined ? '' : `: ${lastError.replace(`Server "${server.name}"`, 'it').replace(/\.$/, '')}`;
  return `Server "${server.name}" is ${states[server.state] ?? server.state}${reason}. "gantry servers show ${server.name}" says how it stands.`;
};

const serving: ReadonlySet<ServerState> = new Set(['connected', 'idle']);

const states: Partial<Record<ServerState, string>> = {
  connecting: 'still being connected',
  unreachable: 'down',
  quarantined: 'down and left alone for a while',
  needs_login: 'waiting for a sign-in',
  skipped: 'skipped',
};
