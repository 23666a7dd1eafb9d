import { startGateway, startUpstream } from './lib/gateway.ts';
import type { Figures, MeasuredCalls } from './lib/measure-calls.ts';
import { callOf, measureCalls } from './lib/measure-calls.ts';
import { memoryOf } from './lib/process.ts';
import { connectRaw } from './lib/raw-client.ts';
import { sequentially, show } from './lib/stats.ts';

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
    measured.push(await measureCalls([gateway.pid], callOf(direct, 'echo'), callOf(through, tool)));
    const listed = await sequentially(() => through.request('tools/list'), 50);
    Object.assign(measured.at(-1) as object, { listMs: listed.p50, rssMb: memoryOf(gateway.pid).rssMb });
  }
  const [all, passed] = measured as [Lane, Lane];
  const line = (what: string, read: (lane: Lane) => string): string => `| ${what} | ${read(all)} | ${read(passed)} |`;
  const ratio = (read: (figures: Figures) => number, unit: string) => (lane: Lane) =>
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

interface Lane extends MeasuredCalls {
  readonly listMs: number;
  readonly rssMb: number;
}
