import { setTimeout as pause } from 'node:timers/promises';
import { seededRandom, startFaultyUpstream } from '../test/fixtures/faulty-upstream.ts';
import { startGateway } from './lib/gateway.ts';
import { memoryOf } from './lib/process.ts';
import { connectRaw } from './lib/raw-client.ts';
import { show } from './lib/stats.ts';

const clients = 16;
const servers = 50;
const calls = Number(process.env['GANTRY_BENCH_LOAD_CALLS'] ?? 100_000);
const flatFrom = calls / 5;

/**
 * 16 clients and 50 servers of which 5 % of the calls are slow, 1 % lose their connection and one server after another restarts: how calls
 * end, whether any work is done twice, and whether memory is flat from the first fifth of the calls on.
 */
export const benchLoad = async (): Promise<string[]> => {
  await using upstream = await startFaultyUpstream(servers, { slow: 0.05, dropped: 0.01, slowMs: 50 }, seededRandom(1));
  const addresses = Object.entries(upstream.servers).map(([name, { url }]) => [name, url] as const);
  await using gateway = await startGateway(Object.fromEntries(addresses));
  await pause(3_000);
  const memory: { readonly at: number; readonly rssMb: number }[] = [];
  let next = 0;
  let results = 0;
  let errors = 0;
  const startedMs = performance.now();
  const run = async (): Promise<void> => {
    using client = await connectRaw(`${gateway.url}/mcp?mode=off`, 1);
    for (;;) {
      const at = next;
      next += 1;
      if (at >= calls) return;
      if (at % 2_000 === 1_000) await upstream.restart(at % servers);
      if (at % (calls / 20) === 0) memory.push({ at, rssMb: memoryOf(gateway.pid).rssMb });
      const call = { name: `s${at % servers}__work`, arguments: { id: `work-${at}` } };
      const isError = await client.request('tools/call', call).then(
        (result) => (result as { isError?: boolean }).isError === true,
        () => true,
      );
      if (isError) errors += 1;
      else results += 1;
    }
  };
  await Promise.all(Array.from({ length: clients }, run));
  const seconds = (performance.now() - startedMs) / 1000;
  const twice = [...upstream.done.values()].filter((times) => times > 1).length;
  const late = memory.filter(({ at }) => at >= flatFrom).map(({ rssMb }) => rssMb);
  const spread = (Math.max(...late) - Math.min(...late)) / Math.min(...late);
  return [
    '| calls | results | errors | done twice | a second | resident after a fifth | most after that | spread |',
    '|---|---|---|---|---|---|---|---|',
    `| ${calls.toLocaleString('en')} | ${results.toLocaleString('en')} | ${errors} | ${twice} | ${show(calls / seconds)} | ${show(late[0] ?? 0)} MB | ${show(Math.max(...late))} MB | ${show(spread * 100)} % |`,
  ];
};
