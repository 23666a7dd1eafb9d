import { afterEach, beforeEach, expect, it } from 'vitest';
import { connectRaw } from '../bench/lib/raw-client.ts';
import { seededRandom, startFaultyUpstream } from './fixtures/faulty-upstream.ts';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';

let folder: GantryFolder;
beforeEach(() => {
  folder = makeGantryFolder();
});
afterEach(() => folder[Symbol.dispose]());

// The long form is "npm run bench -- load".
const clients = 16;
const servers = 12;
const calls = 4_000;

it.each(['/mcp', '/mcp/{server}'])(
  'ends every call of many clients at %s in a result or an error, and does no work twice, while servers fail and restart',
  async (address) => {
    await using upstream = await startFaultyUpstream(
      servers,
      { slow: 0.05, dropped: 0.01, slowMs: 50 },
      seededRandom(7),
    );
    folder.write('mcp.json', { mcpServers: upstream.servers });
    await using gateway = await folder.serve();
    await expect
      .poll(async () => await (await fetch(`${gateway.url}/api/v1/servers`)).json(), { timeout: 20_000 })
      .toMatchObject({ servers: Array.from({ length: servers }, () => ({ state: 'connected' })) });
    const ended = new Map<string, string>();
    let next = 0;
    const run = async (): Promise<void> => {
      const one = address === '/mcp' ? await connectRaw(`${gateway.url}/mcp?mode=off`, 1) : undefined;
      const passed = one
        ? []
        : await Promise.all(
            Array.from({ length: servers }, (_, server) => connectRaw(`${gateway.url}/mcp/s${server}`, 1)),
          );
      for (;;) {
        const at = next;
        next += 1;
        if (at >= calls) break;
        const id = `work-${at}`;
        const server = at % servers;
        if (at % 1_000 === 500) await upstream.restart(server);
        const call = one
          ? one.request('tools/call', { name: `s${server}__work`, arguments: { id } })
          : passed[server]?.request('tools/call', { name: 'work', arguments: { id } });
        ended.set(
          id,
          await (call ?? Promise.resolve()).then(
            (result) => ((result as { isError?: boolean }).isError ? 'error' : JSON.stringify(result)),
            () => 'error',
          ),
        );
      }
      one?.[Symbol.dispose]();
      for (const client of passed) client[Symbol.dispose]();
    };
    await Promise.all(Array.from({ length: clients }, run));

    expect(ended.size).toBe(calls);
    const twice = [...upstream.done].filter(([, times]) => times > 1);
    expect(twice).toEqual([]);
    const wrong = [...ended].filter(([id, end]) => end !== 'error' && !end.includes(`"${id}"`));
    expect(wrong).toEqual([]);
    // What was told as a result was done.
    const undone = [...ended].filter(([id, end]) => end !== 'error' && !upstream.done.has(id));
    expect(undone).toEqual([]);
    const errors = [...ended.values()].filter((end) => end === 'error').length;
    expect(errors).toBeLessThan(calls * 0.05);
  },
);
