import { setTimeout as pause } from 'node:timers/promises';
import { makeFolder, startGateway, startUpstream } from './lib/gateway.ts';
import { memoryOf, untilReady } from './lib/process.ts';
import { connectRaw } from './lib/raw-client.ts';
import { sequentially, show, showSpread } from './lib/stats.ts';

/** Start-up with no, one and twenty servers, one of them hanging, and with a saved catalog; and memory, idle and under small calls. */
export const benchStartUp = async (): Promise<string[]> => {
  const lines = ['| start of the build | until /readyz | until all tools are listed |', '|---|---|---|'];
  await using upstream = await startUpstream(20, 25);
  const some = (count: number): Record<string, string> =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, upstream.address(index)]));
  const cases: readonly (readonly [string, Readonly<Record<string, string>>, number])[] = [
    ['no servers', {}, 0],
    ['1 server', some(1), 25],
    ['20 servers', some(20), 500],
    ['20 servers, one of them hanging', { ...some(19), hanging: upstream.address('hang') }, 475],
  ];
  for (const [what, servers, tools] of cases) {
    const ready: number[] = [];
    const listed: number[] = [];
    for (let round = 0; round < (tools === 0 ? 9 : 5); round += 1) {
      await using gateway = await startGateway(servers);
      ready.push(gateway.readyMs);
      if (tools > 0) listed.push(gateway.readyMs + (await untilListed(gateway.url, tools)));
    }
    lines.push(`| ${what} | ${showSpread(ready, 'ms')} | ${listed.length > 0 ? showSpread(listed, 'ms') : ''} |`);
  }
  lines.push(await startAgain(some(20), 500));

  await using gateway = await startGateway(some(1));
  await pause(10_000);
  const idle = memoryOf(gateway.pid).rssMb;
  using client = await connectRaw(`${gateway.url}/mcp?mode=eager`);
  const call = (): Promise<unknown> => client.request('tools/call', { name: 's0__echo', arguments: { message: 'hi' } });
  await sequentially(call, 5000);
  const loaded = memoryOf(gateway.pid);
  lines.push('', '| memory | resident |', '|---|---|');
  lines.push(
    `| 10 s after ready | ${show(idle)} MB |`,
    `| after 5,000 small calls | ${show(loaded.rssMb)} MB (peak ${show(loaded.peakMb)}) |`,
  );
  return lines;
};

/** The second start in a folder: what the servers offered the last time is in the store. */
const startAgain = async (servers: Readonly<Record<string, string>>, tools: number): Promise<string> => {
  await using folder = makeFolder();
  const first = await startGateway(servers, folder);
  await untilListed(first.url, tools);
  await first[Symbol.asyncDispose]();
  const ready: number[] = [];
  const listed: number[] = [];
  for (let round = 0; round < 9; round += 1) {
    await using gateway = await startGateway(servers, folder);
    ready.push(gateway.readyMs);
    listed.push(gateway.readyMs + (await untilListed(gateway.url, tools)));
  }
  return `| 20 servers, with a saved catalog | ${showSpread(ready, 'ms')} | ${showSpread(listed, 'ms')} |`;
};

const untilListed = async (url: string, tools: number): Promise<number> =>
  untilReady(async () => {
    using client = await connectRaw(`${url}/mcp?mode=eager`);
    const result = (await client.request('tools/list')) as { tools: { name: string }[] };
    const typed = result.tools.filter((tool) => tool.name.includes('__')).length;
    if (typed < tools) throw new Error(`${typed} of ${tools} tools are listed`);
  });
