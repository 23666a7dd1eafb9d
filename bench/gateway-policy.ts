import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMsOf } from './lib/process.ts';
import { entry, makeFolder, startGateway, startUpstream } from './lib/gateway.ts';
import { callOf } from './lib/measure-calls.ts';
import type { RawClient } from './lib/raw-client.ts';
import { connectRaw } from './lib/raw-client.ts';
import { concurrently, sequentially, show } from './lib/stats.ts';

const rounds = 5;
const calls = 2_000;

/**
 * What policy costs: the same call to one server with nothing on, and with a stored token, a client's rule (servers, tools, rate, number of
 * calls), filters and a guard of arguments on, in turns; and a page of 500 tools from 20 servers.
 */
export const benchGatewayPolicy = async (): Promise<string[]> => {
  await using upstream = await startUpstream(20, 25);
  const url = upstream.address(0);
  await using plain = await startGateway({ up: url });
  await using folder = makeFolder();
  writeFileSync(
    join(folder.path, 'gantry.json'),
    JSON.stringify({
      serve: {
        requireToken: true,
        clients: { ci: { servers: ['up'], tools: ['up__*'], callsPerMinute: 10_000_000, maxConcurrentCalls: 64 } },
      },
    }),
  );
  const token = createToken(folder.path, 'ci');
  const guard = { handler: 'json-schema', options: { schema: { properties: { message: { maxLength: 100 } } } } };
  await using guarded = await startGateway(
    { up: { url, allowedTools: ['echo', 'record_*'], deniedTools: ['record_0_9'], argGuards: [guard] } },
    folder,
  );
  const lane = async (pid: number, address: string, given?: string): Promise<Lane> => ({
    pid,
    client: await connectRaw(`${address}/mcp/up`, 16, given),
    perSecond: [],
    cpuMs: [],
  });
  const lanes = [await lane(plain.pid, plain.url), await lane(guarded.pid, guarded.url, token)];
  for (let round = 0; round <= rounds; round += 1)
    for (const { pid, client, perSecond, cpuMs } of lanes) {
      const before = cpuMsOf(pid);
      const measured = await concurrently(callOf(client, 'echo'), calls, 16);
      // The first round warms up.
      if (round === 0) continue;
      perSecond.push(measured.perSecond);
      cpuMs.push((cpuMsOf(pid) - before) / calls);
    }
  for (const { client } of lanes) client[Symbol.dispose]();
  const [without, withAll] = lanes.map(({ perSecond, cpuMs }) => ({
    perSecond: median(perSecond),
    cpuMs: median(cpuMs),
  }));
  if (!without || !withAll) throw new Error('nothing was measured');

  const twenty = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`s${index}`, upstream.address(index)]));
  await using many = await startGateway(twenty);
  using client = await connectRaw(`${many.url}/mcp?mode=eager`);
  for (;;) {
    const { tools } = (await client.request('tools/list')) as { tools: readonly unknown[] };
    if (tools.length >= 500) break;
  }
  // What takes the client its time is the same there.
  await using one = await startUpstream(1, 20 * 25);
  using direct = await connectRaw(one.address(0));
  const list = (from: RawClient) => (): Promise<unknown> => from.request('tools/list');
  await sequentially(list(client), 100);
  await sequentially(list(direct), 100);
  const listed = await sequentially(list(client), 200);
  const listedDirectly = await sequentially(list(direct), 200);
  return [
    '| `/mcp/{server}`, 16 in flight | calls a second | CPU a call |',
    '|---|---|---|',
    `| no policy | ${show(without.perSecond)} | ${show(without.cpuMs)} ms |`,
    `| token, rule, filters and guard | ${show(withAll.perSecond)} (${show((withAll.perSecond / without.perSecond) * 100)} %) | ${show(withAll.cpuMs)} ms |`,
    '',
    `A page of 500 tools from 20 servers: p50 ${show(listed.p50)} ms, p99 ${show(listed.p99)} ms; of one server, asked directly: ${show(listedDirectly.p50)} ms.`,
  ];
};

interface Lane {
  readonly pid: number;
  readonly client: RawClient;
  readonly perSecond: number[];
  readonly cpuMs: number[];
}

const createToken = (cwd: string, name: string): string => {
  const env = { ...process.env, NODE_OPTIONS: '', HOME: cwd, XDG_CONFIG_HOME: cwd };
  const said = execFileSync(process.execPath, [entry, 'tokens', 'create', name, '--json'], {
    cwd,
    env,
    encoding: 'utf8',
  });
  return (JSON.parse(said) as { token: string }).token;
};

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
