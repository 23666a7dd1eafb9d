import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { BridgeHarness, HarnessOptions } from './fixtures/bridge-harness.ts';
import { startBridge } from './fixtures/bridge-harness.ts';

const program = fileURLToPath(new URL('./fixtures/stdio-server.ts', import.meta.url));

const launch = (mode: string, options: HarnessOptions = {}): Promise<BridgeHarness> =>
  startBridge(
    { s: { command: process.execPath, args: [program, mode], env: { API_KEY: 'k' } } },
    { ...options, settings: { stdio: 'launch', ...options.settings } },
  );

/** False also for a process that has ended and whose parent has not asked how. */
const isAlive = (pid: number): boolean => {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

describe('a stdio server', () => {
  it("is launched, called, and has none of the host's secrets in its environment", async () => {
    await using t = await launch('plain', { env: { ...process.env, HOST_SECRET: 's3cret' } });
    await t.bridge.ready();
    expect(t.bridge.server('s')).toMatchObject({ state: 'connected', transport: 'stdio' });
    const environment = JSON.parse(await t.text('s', 'env')) as Record<string, string>;
    expect(environment).toMatchObject({ API_KEY: 'k', PATH: process.env['PATH'] });
    expect(environment).not.toHaveProperty('HOST_SECRET');
  });

  it('may write other text to its stdout: one warning, and what it writes to stderr is log text', async () => {
    await using t = await launch('noisy');
    await t.bridge.ready();
    expect(t.bridge.server('s')?.state).toBe('connected');
    const warnings = t.log.filter((line) => line.level === 'warn').map((line) => line.message);
    expect(warnings).toEqual([
      'Server "s" writes text to its stdout that is no JSON-RPC message; such lines are skipped.',
    ]);
    expect(t.log.some((line) => line.level === 'debug' && line.facts['stderr'] === 'warming up')).toBe(true);
    expect(t.log.filter((line) => line.facts['skipped'] !== undefined)).toHaveLength(2);
  });

  it('that never answers fails within the connect time-out, and its process is ended', async () => {
    await using t = await launch('hang', { settings: { connectTimeoutMs: 1_500, connectRetryCount: 0 } });
    await t.bridge.ready();
    expect(t.bridge.server('s')).toMatchObject({
      state: 'unreachable',
      lastError: 'Server "s" did not complete initialize within 1500 ms.',
    });
  });

  it('whose program is missing says so', async () => {
    await using t = await startBridge({ s: { command: 'no-such-program' } }, { settings: { stdio: 'launch' } });
    await t.bridge.ready();
    expect(t.bridge.server('s')?.lastError).toContain('The program "no-such-program" of server "s" was not found');
  });

  it('is ended together with its helpers', async () => {
    const t = await launch('helper');
    await t.bridge.ready();
    const [own, helper] = JSON.parse(await t.text('s', 'pids')) as [number, number];
    expect([isAlive(own), isAlive(helper)]).toEqual([true, true]);
    await t[Symbol.asyncDispose]();
    expect(isAlive(own)).toBe(false);
    // A signal to a process that is nobody's child arrives when the system gets to it.
    while (isAlive(helper)) await nextTurn();
  });

  it('that does not end when it is asked to is killed', async () => {
    const t = await launch('stubborn');
    await t.bridge.ready();
    const [pid] = JSON.parse(await t.text('s', 'pids')) as [number];
    await t[Symbol.asyncDispose]();
    expect(isAlive(pid)).toBe(false);
  });

  it('is started again when its process dies', async () => {
    await using t = await launch('plain');
    await t.bridge.ready();
    const [pid] = JSON.parse(await t.text('s', 'pids')) as [number];
    process.kill(pid, 'SIGKILL');
    await t.untilState((bridge) => bridge.server('s')?.state !== 'connected');
    const [next] = JSON.parse(await t.text('s', 'pids')) as [number];
    expect(next).not.toBe(pid);
  });

  it('answers null, or too much, and only that call ends', async () => {
    await using t = await launch('plain', { settings: { maxResponseBytes: 1_000_000 } });
    await t.bridge.ready();
    expect(await t.text('s', 'null')).toBe('(the tool returned nothing)');
    expect(await t.text('s', 'big')).toContain('more than 1000000 bytes');
    expect(await t.text('s', 'nope')).toMatch(/has no tool/);
    expect(t.bridge.server('s')?.state).toBe('connected');
  });

  it('that floods the bridge with change notices is listed a few times, and the last notice counts', async () => {
    await using t = await launch('plain');
    await t.bridge.ready();
    await t.call('s', 'storm');
    await t.untilIndexed((message) => message.servers[0]?.toolNames.includes('extra0') ?? false);
    const [, , listings] = JSON.parse(await t.text('s', 'pids')) as [number, number, number];
    expect(listings).toBeGreaterThan(1);
    expect(listings).toBeLessThanOrEqual(5);
  });
});
