import { startBareProxy, startGateway, startUpstream } from './lib/gateway.ts';
import type { Figures, MeasuredCalls } from './lib/measure-calls.ts';
import { callOf, measureCalls } from './lib/measure-calls.ts';
import type { Measured } from './lib/process.ts';
import { memoryOf } from './lib/process.ts';
import { connectRaw } from './lib/raw-client.ts';
import { sequentially, show } from './lib/stats.ts';

/**
 * One call through the gateway beside the same call made directly, over both of its addresses, and through a bare proxy: latency one at a
 * time, throughput with 16 in flight.
 */
export const benchGatewayCalls = async (): Promise<string[]> => {
  await using upstream = await startUpstream(1, 25);
  const address = upstream.address(0);
  const measured: Lane[] = [];
  const measure = async ({ pid }: Measured, url: string, tool: string): Promise<void> => {
    using direct = await connectRaw(address);
    using through = await connectRaw(url);
    const calls = await measureCalls([pid], callOf(direct, 'echo'), callOf(through, tool));
    const listed = await sequentially(() => through.request('tools/list'), 50);
    measured.push({ ...calls, listMs: listed.p50, rssMb: memoryOf(pid).rssMb });
  };
  for (const [path, tool] of [
    ['/mcp?mode=eager', 'up__echo'],
    ['/mcp/up', 'echo'],
  ] as const) {
    await using gateway = await startGateway({ up: address });
    await measure(gateway, gateway.url + path, tool);
  }
  await using proxy = await startBareProxy(address);
  await measure(proxy, proxy.url, 'echo');
  const line = (what: string, read: (lane: Lane) => string): string =>
    `| ${what} | ${measured.map(read).join(' | ')} |`;
  const ratio = (read: (figures: Figures) => number, unit: string) => (lane: Lane) =>
    `${show(read(lane.through))}${unit} (direct ${show(read(lane.direct))}${unit}: ${show(read(lane.through) / read(lane.direct))})`;
  return [
    '| | `/mcp` | `/mcp/{server}` | bare proxy |',
    '|---|---|---|---|',
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

interface Lane extends MeasuredCalls {
  readonly listMs: number;
  readonly rssMb: number;
}
