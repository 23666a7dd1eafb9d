import { startGateway, startUpstream } from './lib/gateway.ts';
import { cpuMsOf, memoryOf } from './lib/process.ts';
import type { RawClient } from './lib/raw-client.ts';
import { connectRaw } from './lib/raw-client.ts';
import { concurrently, sequentially, show } from './lib/stats.ts';

/**
 * One call through the gateway beside the same call made directly, over both of its addresses: latency one at a time, throughput with
 * 16 in flight.
 */
export const benchGatewayCalls = async (): Promise<string[]> => {
  await using upstream = await startUpstream(1, 25);
  const lanes = ['/mcp?mode=eager', '/mcp/up'] as const;
  const measured = [];
  for (const lane of lanes) {
    await using gateway = await startGateway({ up: upstream.address(0) });
    using direct = await connectRaw(upstream.address(0));
    using through = await connectRaw(`${gateway.url}${lane}`);
    const tool = lane === '/mcp/up' ? 'echo' : 'up__echo';
    measured.push(await measure(gateway.pid, callOf(direct, 'echo'), callOf(through, tool)));
    const listed = await sequentially(() => through.request('tools/list'), 50);
    Object.assign(measured.at(-1) as object, { listMs: listed.p50, rssMb: memoryOf(gateway.pid).rssMb });
  }
  const [all, passed] = measured as [Measured, Measured];
  const line = (what: string, read: (lane: Measured) => string): string =>
    `| ${what} | ${read(all)} | ${read(passed)} |`;
  const ratio = (read: (figures: Figures) => number, unit: string) => (lane: Measured) =>
    `${show(read(lane.through))}${unit} (direct ${show(read(lane.direct))}${unit}: ${show(read(lane.through) / read(lane.direct))})`;
  return [
    '| | `/mcp` | `/mcp/{server}` |',
    '|---|---|---|',
    line(
      'p50, one at a time',
      ratio(({ p50 }) => p50, ' ms'),
    ),
    line(
      'p99, one at a time',
      ratio(({ p99 }) => p99, ' ms'),
    ),
    line(
      'calls a second, 16 in flight',
      ratio(({ perSecond }) => perSecond, ''),
    ),
    line('CPU a call, 16 in flight', ({ cpuMs }) => `${show(cpuMs)} ms`),
    line('tools/list of 25 tools, p50', ({ listMs }) => `${show(listMs)} ms`),
    line('resident after the calls', ({ rssMb }) => `${show(rssMb)} MB`),
  ];
};

interface Figures {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
}

interface Measured {
  readonly direct: Figures;
  readonly through: Figures;
  readonly cpuMs: number;
  readonly listMs: number;
  readonly rssMb: number;
}

const callOf = (client: RawClient, name: string) => (): Promise<unknown> =>
  client.request('tools/call', { name, arguments: { message: 'hi' } });

const rounds = 3;

const measure = async (
  pid: number,
  directCall: () => Promise<unknown>,
  gatewayCall: () => Promise<unknown>,
): Promise<Pick<Measured, 'direct' | 'through' | 'cpuMs'>> => {
  await sequentially(directCall, 300);
  await sequentially(gatewayCall, 300);
  const direct: Figures[] = [];
  const through: Figures[] = [];
  const cpus: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const oneDirect = await sequentially(directCall, 500);
    const oneThrough = await sequentially(gatewayCall, 500);
    const manyDirect = await concurrently(directCall, 3000, 16);
    const cpuBeforeMs = cpuMsOf(pid);
    const manyThrough = await concurrently(gatewayCall, 3000, 16);
    cpus.push((cpuMsOf(pid) - cpuBeforeMs) / 3000);
    direct.push({ ...oneDirect, perSecond: manyDirect.perSecond });
    through.push({ ...oneThrough, perSecond: manyThrough.perSecond });
  }
  return { direct: medianOf(direct), through: medianOf(through), cpuMs: median(cpus) };
};

const medianOf = (rows: readonly Figures[]): Figures => ({
  p50: median(rows.map(({ p50 }) => p50)),
  p99: median(rows.map(({ p99 }) => p99)),
  perSecond: median(rows.map(({ perSecond }) => perSecond)),
});

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
