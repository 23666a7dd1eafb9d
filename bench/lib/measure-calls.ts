import { cpuMsOf } from './process.ts';
import type { RawClient } from './raw-client.ts';
import { concurrently, sequentially } from './stats.ts';

/** Latency one at a time, in milliseconds, and throughput with 16 in flight. */
export interface Figures {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
}

/** The same calls with and without something in between, and what that costs. */
export interface MeasuredCalls {
  readonly direct: Figures;
  readonly through: Figures;
  /** Processor time of what is in between, a call, with 16 in flight. */
  readonly cpuMs: number;
}

/** A small call of a tool. */
export const callOf = (client: RawClient, name: string) => (): Promise<unknown> =>
  client.request('tools/call', { name, arguments: { message: 'hi' } });

const rounds = 3;

/** Measures both in turns; `pids` are the processes in between. */
export const measureCalls = async (
  pids: readonly number[],
  directCall: () => Promise<unknown>,
  gatewayCall: () => Promise<unknown>,
): Promise<MeasuredCalls> => {
  await sequentially(directCall, 300);
  await sequentially(gatewayCall, 300);
  const direct: Figures[] = [];
  const through: Figures[] = [];
  const cpus: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const oneDirect = await sequentially(directCall, 500);
    const oneThrough = await sequentially(gatewayCall, 500);
    const manyDirect = await concurrently(directCall, 3000, 16);
    const cpuBeforeMs = cpuOf(pids);
    const manyThrough = await concurrently(gatewayCall, 3000, 16);
    cpus.push((cpuOf(pids) - cpuBeforeMs) / 3000);
    direct.push({ ...oneDirect, perSecond: manyDirect.perSecond });
    through.push({ ...oneThrough, perSecond: manyThrough.perSecond });
  }
  return { direct: medianOf(direct), through: medianOf(through), cpuMs: median(cpus) };
};

const cpuOf = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + cpuMsOf(pid), 0);

const medianOf = (rows: readonly Figures[]): Figures => ({
  p50: median(rows.map(({ p50 }) => p50)),
  p99: median(rows.map(({ p99 }) => p99)),
  perSecond: median(rows.map(({ perSecond }) => perSecond)),
});

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;
