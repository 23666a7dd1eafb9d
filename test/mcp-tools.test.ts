import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createGantry } from '../packages/gantry/src/host/create-gantry.ts';
import { mcpTools } from '../packages/gantry/src/host/plugins/mcp-tools.ts';
import { mcp } from '../packages/gantry/src/host/plugins/mcp.ts';
import type { Log } from '../packages/gantry/src/kernel/log.ts';
import { silentLog } from '../packages/gantry/src/kernel/log.ts';
import { outcomeText } from '../packages/gantry/src/tool/outcome-text.ts';

const program = fileURLToPath(new URL('./fixtures/stdio-server.ts', import.meta.url));
const server = (name: string, mode = 'plain') => ({
  name,
  command: process.execPath,
  arguments: [program, mode],
  environmentVariables: { API_KEY: name },
});

it('registers the tools of programs under their own names, and leaves out what fails', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'gantry-mcp-tools-'));
  const errors: string[] = [];
  const log: Log = { ...silentLog, error: (_facts, message) => void errors.push(message) };
  let pid = 0;
  {
    await using gantry = await createGantry({ dataDir: ':memory:', cwd, log })
      .use(mcpTools({ servers: [server('one'), { name: 'gone', command: 'no-such-program' }, server('two')] }))
      .start();
    expect(gantry.tools.get('env')?.registration).toMatchObject({ source: 'mcp:one', description: 'env' });
    const environment = JSON.parse(outcomeText(await gantry.call('env'))) as Record<string, string>;
    expect(environment).toMatchObject({ API_KEY: 'one' });
    [pid] = JSON.parse(outcomeText(await gantry.call('pids'))) as [number];
    expect(errors).toContain('Server "gone" is left out: it could not be started.');
    expect(errors.filter((message) => message === 'A tool of server "two" is left out.')).toHaveLength(5);
    expect(outcomeText(await gantry.call('null'))).toBe('(the tool returned nothing)');
  }
  expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  await rm(cwd, { recursive: true });
});

it('ends the call with an error when the program dies', async () => {
  const cwd = await mkdtemp(join(tmpdir(), 'gantry-mcp-tools-'));
  await using gantry = await createGantry({ dataDir: ':memory:', cwd, log: silentLog })
    .use(mcpTools({ servers: [server('one')] }))
    .start();
  const [pid] = JSON.parse(outcomeText(await gantry.call('pids'))) as [number];
  process.kill(pid, 'SIGKILL');
  const outcomes = await Promise.all([gantry.call('pids'), gantry.call('pids')]);
  for (const outcome of outcomes)
    expect(outcome).toMatchObject({ status: 'failed', failure: { code: 'execution_failed' } });
});

it('is never used together with the bridge', async () => {
  await expect(
    createGantry({ log: silentLog })
      .use(mcp(), mcpTools({ servers: [] }))
      .start(),
  ).rejects.toMatchObject({
    code: 'plugin_unresolved',
  });
});
