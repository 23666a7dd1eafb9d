import type { ServerState, ServerStatus } from '../../mcp/wire/server-state.ts';
import type { DoctorCheck } from './doctor-report.ts';

/** What each configured server's state means for the installation, with the way out. */
export const checkServers = (servers: readonly ServerStatus[]): readonly DoctorCheck[] => servers.map(checkServer);

const checkServer = (server: ServerStatus): DoctorCheck => {
  const name = `server ${server.name}`;
  const { state, fix } = readings[server.state];
  if (state === 'ok' && server.state === 'connected')
    return { name, state, message: `connected over ${server.transport}, ${server.tools} tools` };
  const reason = server.lastError === undefined ? '' : `: ${server.lastError}`;
  return { name, state, message: `${server.state.replaceAll('_', ' ')}${reason}`, fix: fix?.(server.name) };
};

interface Reading {
  readonly state: DoctorCheck['state'];
  readonly fix?: (name: string) => string;
}

const readings: Readonly<Record<ServerState, Reading>> = {
  connected: { state: 'ok' },
  idle: { state: 'ok' },
  disabled: { state: 'ok' },
  connecting: { state: 'warning', fix: () => 'Wait, then run "gantry doctor" again.' },
  skipped: {
    state: 'warning',
    fix: () => 'Set "mcp": {"stdio": "launch"} in the configuration to let Gantry launch programs.',
  },
  unreachable: {
    state: 'broken',
    fix: (name) =>
      `Check that the server runs and that its entry in mcp.json is right; then "gantry servers refresh ${name}".`,
  },
  quarantined: {
    state: 'broken',
    fix: (name) => `It failed too often in a row; put it right, then run "gantry servers refresh ${name}".`,
  },
  needs_login: {
    state: 'broken',
    fix: (name) => `Run "gantry servers login ${name}", or give its entry in mcp.json a token in "headers".`,
  },
  refused: {
    state: 'broken',
    fix: () => 'Correct its entry in mcp.json; "gantry config schema mcp" prints what it may hold.',
  },
};
