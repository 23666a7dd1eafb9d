import { expect, it } from 'vitest';
import type { ServerState } from '../../mcp/wire/server-state.ts';
import { checkServers } from './check-servers.ts';
import { toReport } from './doctor-report.ts';

const rows: [ServerState, 'ok' | 'warning' | 'broken'][] = [
  ['connected', 'ok'],
  ['idle', 'ok'],
  ['disabled', 'ok'],
  ['connecting', 'warning'],
  ['skipped', 'warning'],
  ['unreachable', 'broken'],
  ['quarantined', 'broken'],
  ['needs_login', 'broken'],
  ['refused', 'broken'],
];

it.each(rows)('reads a server that is %s as %s, with a way out unless that is fine', (state, expected) => {
  const checks = checkServers([
    {
      name: 'wiki',
      id: 'x',
      state,
      transport: 'auto',
      protocolVersion: null,
      tools: 3,
      prompts: 0,
      resources: 0,
      fingerprint: null,
      origin: 'operator',
      lastError: state === 'connected' ? undefined : 'because',
    },
  ]);
  expect(checks).toMatchObject([{ name: 'server wiki', state: expected }]);
  expect(checks[0]?.message).toContain(state === 'connected' ? '3 tools' : 'because');
  expect(checks[0]?.fix === undefined).toBe(expected === 'ok');
  expect(toReport(checks).ok).toBe(expected !== 'broken');
});
