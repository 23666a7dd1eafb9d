import { expect, it } from 'vitest';
import type { ServerState, ServerStatus } from '../mcp/wire/server-state.ts';
import { serverOfTool, whyMissing } from './server-of-tool.ts';

const status = (name: string, state: ServerState, lastError?: string): ServerStatus => ({
  name,
  id: '0123456789ab',
  state,
  transport: 'auto',
  protocolVersion: null,
  tools: 0,
  prompts: 0,
  resources: 0,
  fingerprint: null,
  origin: 'operator',
  lastError,
});

it.each([
  ['web__echo', 'web'],
  ['my-web__echo', 'my.web'],
  ['a__b__c', 'a__b'],
  ['web_echo', undefined],
  ['webb__echo', undefined],
])('finds the server of %s: %s', (tool, server) => {
  const servers = ['web', 'my.web', 'a', 'a__b'].map((name) => status(name, 'connected'));
  expect(serverOfTool(tool, servers)?.name).toBe(server);
});

it.each<[ServerState, string | undefined]>([
  ['unreachable', 'Server "web" is down: it refuses. "gantry servers show web"'],
  ['skipped', 'is skipped: it refuses.'],
  ['quarantined', 'is down and left alone'],
  ['connecting', 'is still being connected'],
  ['needs_login', 'is waiting for a sign-in'],
  ['refused', 'is refused: it refuses.'],
  ['disabled', 'is disabled'],
  ['connected', undefined],
  ['idle', undefined],
])('says of a tool whose server is %s: %s', (state, part) => {
  const why = whyMissing('web__echo', [status('web', state, 'it refuses.')]);
  expect(whyMissing('web__echo', [status('web', state, 'Server "web" refuses.')])).toBe(
    whyMissing('web__echo', [status('web', state, 'it refuses.')]),
  );
  if (part === undefined) expect(why).toBeUndefined();
  else expect(why).toContain(part);
});
