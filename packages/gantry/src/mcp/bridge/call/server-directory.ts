import { GantryError } from '../../../kernel/errors.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { Lease, ManagedServer } from '../server/managed-server.ts';
import { unknownServerText } from '../../wire/unknown-server.ts';
import { toolNamed } from './find-tool.ts';

/** The configured servers, by lower-case name. */
export type ServerDirectory = ReadonlyMap<string, ManagedServer>;

/** A leased server, or the outcome of a call that has none. */
export type FoundServer = { readonly server: ManagedServer; readonly lease: Lease } | { readonly outcome: Outcome };

/**
 * Finds the server that a call is meant for and leases it, connecting it if it is down. Without a name it is the first connected server
 * that has the tool, else the first that had it when it was last connected.
 */
export const findServer = async (
  servers: ServerDirectory,
  name: string | undefined,
  toolName: string,
  signal: AbortSignal,
): Promise<FoundServer> => {
  const server = name ? servers.get(name.toLowerCase()) : serverWith(servers, toolName);
  if (!server)
    return {
      outcome: failedOutcome('tool_not_found', name ? unknownServerText(name) : unknownTool(toolName)),
    };
  const lease = server.lease();
  if (lease) return { server, lease };
  try {
    return { server, lease: await server.leaseConnected({ signal }) };
  } catch (error) {
    if (!GantryError.is(error) || signal.aborted) throw error;
    return { outcome: unavailable(server, error) };
  }
};

/** Says that a server is registered and cannot be used now, and why. */
export const notReachable = (server: ManagedServer, reason: string): string =>
  `Server "${server.name}" is registered but not reachable now. ${reason}`;

const unavailable = (server: ManagedServer, error: GantryError): Outcome => {
  switch (error.code) {
    case 'auth_required':
      return failedOutcome('auth_required', error.message);
    case 'config_invalid':
    case 'server_unknown':
      return failedOutcome('tool_not_found', error.message);
    default:
      return failedOutcome('tool_not_found', notReachable(server, error.message), 'later');
  }
};

const serverWith = (servers: ServerDirectory, toolName: string): ManagedServer | undefined => {
  const having = [...servers.values()].filter(({ offer }) => offer && toolNamed(offer.surface.tools, toolName));
  return having.find(({ snapshot }) => snapshot) ?? having[0];
};

const unknownTool = (toolName: string): string =>
  `No server has a tool "${flattenText(toolName, { maxChars: 100 })}". Name the server to call.`;
