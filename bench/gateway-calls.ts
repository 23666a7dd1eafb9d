import { startGateway, startUpstream } from './lib/gateway.ts';
import { cpuMsOf, memoryOf } from './lib/process.ts';
import type { RawClient } from './lib/raw-client.ts';
import { connectRaw } from './lib/raw-client.ts';
import { concurrently, sequentially, show } from './lib/stats.ts';

/** One call through the gateway beside the same call made directly: latency one at a time, throughput with 16 in flight. */
export const benchGatewayCalls = async (): Promise<string[]> => {
  await using upstream = await startUpstream(1, 25);
  await using gateway = await startGateway({ up: upstream.address(0) });
  using direct = await connectRaw(upstream.address(0));
  using through = await connectRaw(`${gateway.url}/mcp?mode=eager`);

  const call = (client: RawClient, name: string) => () =>
    client.request('tools/call', { name, arguments: { message: 'hi' } });
  const directCall = call(direct, 'echo');
  const gatewayCall = call(through, 'up__echo');
  await sequentially(directCall, 300);
  await sequentially(gatewayCall, 300);

  const rounds = 3;
  const rows: { p50: number; p99: number; perSecond: number; cpuMs: number }[] = [];
  const base: { p50: number; p99: number; perSecond: number }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const sequentialDirect = await sequentially(directCall, 500);
    const sequentialGateway = await sequentially(gatewayCall, 500);
    const concurrentDirect = await concurrently(directCall, 3000, 16);
    const cpuBeforeMs = cpuMsOf(gateway.pid);
    const concurrentGateway = await concurrently(gatewayCall, 3000, 16);
    base.push({ ...sequentialDirect, perSecond: concurrentDirect.perSecond });
    rows.push({
      ...sequentialGateway,
      perSecond: concurrentGateway.perSecond,
      cpuMs: (cpuMsOf(gateway.pid) - cpuBeforeMs) / 3000,
    });
  }
  const median = <T>(list: readonly T[], read: (row: T) => number): number =>
    list.map(read).toSorted((a, b) => a - b)[Math.floor(list.length / 2)] as number;
  const line = (
    what: string,
    read: (row: { p50: number; p99: number; perSecond: number }) => number,
    unit: string,
  ): string => {
    const [ours, theirs] = [median(rows, read), median(base, read)];
    return `| ${what} | ${show(theirs)} ${unit} | ${show(ours)} ${unit} | ${show(ours / theirs)} |`;
  };
  const listed = await sequentially(() => through.request('tools/list'), 50);
  return [
    '| | direct | through Gantry | ratio |',
    '|---|---|---|---|',
    line('p50, one at a time', (row) => row.p50, 'ms'),
    line('p99, one at a time', (row) => row.p99, 'ms'),
    line('calls a second, 16 in flight', (row) => row.perSecond, ''),
    `| CPU a call, 16 in flight | | ${show(median(rows, (row) => row.cpuMs))} ms | |`,
    `| tools/list of 25 tools, p50 | | ${show(listed.p50)} ms | |`,
    `| resident after the calls | | ${show(memoryOf(gateway.pid).rssMb)} MB | |`,
  ];
};
