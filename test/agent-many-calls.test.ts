import { afterEach, expect, it } from 'vitest';
import * as z from 'zod';
import { mostCallsAtOnce, mostCallsOfAnswer } from '../packages/gantry/src/agent/loop/call-limits.ts';
import { giveWay } from '../packages/gantry/src/kernel/side-by-side.ts';
import { defineTool } from '../packages/gantry/src/tool/define-tool.ts';
import type { ScriptedLoop, ScriptedLoopOptions } from './fixtures/model-loop.ts';
import { saidIn, startLoop } from './fixtures/model-loop.ts';
import type { ModelScript } from './fixtures/model-server.ts';

let open = new AsyncDisposableStack();
afterEach(async () => {
  await open.disposeAsync();
  open = new AsyncDisposableStack();
});
const start = async (script: ModelScript, options: ScriptedLoopOptions = {}): Promise<ScriptedLoop> =>
  open.use(await startLoop(script, options));

const input = z.strictObject({ at: z.number() });
const count = defineTool({ name: 'count', description: 'Counts.', input, execute: ({ at }) => `counted ${at}` });
const callsOf = (name: string, many: number) => Array.from({ length: many }, (_, at) => ({ name, args: { at } }));

it('runs the first 200 calls of an answer, says of the others that they did not run, and goes on', async () => {
  const loop = await start([{ calls: callsOf('count', 300) }, { calls: callsOf('count', 201) }, { text: 'done' }], {
    tools: [count],
  });
  expect(await loop.run('go')).toMatchObject({ text: 'done', endedBy: 'answer' });
  const asked = loop.model.requests[1]!.body['messages'] as { role: string; content: string; tool_call_id: string }[];
  const results = asked.filter(({ role }) => role === 'tool');
  expect(new Set(results.map(({ tool_call_id: id }) => id)).size).toBe(300);
  expect(results.map(({ content }) => /counted \d+|only the first 200 calls/.exec(content)?.[0])).toEqual(
    Array.from({ length: 300 }, (_, at) => (at < mostCallsOfAnswer ? `counted ${at}` : 'only the first 200 calls')),
  );
  expect(loop.recorded.at(-1)?.[0]?.calls.map(({ status }) => status)).toEqual(
    Array.from({ length: 300 }, (_, at) => (at < mostCallsOfAnswer ? 'done' : 'failed')),
  );
});

it('says it to a model that writes its calls as text, too', async () => {
  const text = callsOf('count', 201)
    .map(({ name, args }) => `<tool_call>${JSON.stringify({ name, arguments: args })}</tool_call>`)
    .join('\n');
  const loop = await start([{ text }, { text: 'done' }], {
    tools: [count],
    behaviors: { 'model-': { textToolCalls: true } },
  });
  expect((await loop.run('go')).steps[0]?.calls).toHaveLength(mostCallsOfAnswer);
  expect(saidIn(loop.model.requests[1]!)).toContain('only the first 200 calls');
});

it('runs a limited number of them at the same time, while others have their turn', async () => {
  let running = 0;
  let highest = 0;
  const busy = defineTool({
    name: 'busy',
    description: 'Is busy.',
    input,
    execute: async () => {
      running += 1;
      highest = Math.max(highest, running);
      await giveWay();
      running -= 1;
      return 'ok';
    },
  });
  const loop = await start([{ calls: callsOf('busy', 200) }, { text: 'done' }], { tools: [busy] });
  await loop.run('go');
  expect(highest).toBe(mostCallsAtOnce);
});

it('lets others have their turn while calls run that wait for nothing', async () => {
  let others = 0;
  let isOver = false;
  const seen = new Set<number>();
  const quick = defineTool({
    name: 'quick',
    description: 'Is quick.',
    input,
    execute: () => `${seen.add(others).size}`,
  });
  const loop = await start([{ calls: callsOf('quick', 200) }, { text: 'done' }], { tools: [quick] });
  const other = (): void => {
    others += 1;
    if (!isOver) setImmediate(other);
  };
  other();
  await loop.run('go');
  isOver = true;
  expect(seen.size).toBeGreaterThanOrEqual(Math.floor(200 / mostCallsAtOnce));
});

it('writes results that come together down together, each before the model is asked again', async () => {
  const loop = await start([{ calls: callsOf('count', 200) }, { text: 'done' }], { tools: [count] });
  let writes = 0;
  let kept: readonly (string | undefined)[] = [];
  let asked = 0;
  await loop.run('go', {
    onSteps: async ([step]) => {
      await giveWay();
      writes += 1;
      kept = step?.calls.map(({ result }) => result) ?? [];
      asked = loop.model.requests.length;
    },
  });
  expect(kept).toEqual(Array.from({ length: 200 }, (_, at) => `counted ${at}`));
  expect(asked).toBe(1);
  expect(writes).toBeLessThan(50);
});

it('ends at once when it is aborted: nothing more runs, no tool is waited for, and what ended is kept', async () => {
  const controller = new AbortController();
  const began: number[] = [];
  const late = Promise.withResolvers<string>();
  const waited = Promise.withResolvers<void>();
  const deaf = defineTool({
    name: 'deaf',
    description: 'Does not listen.',
    input,
    timeoutMs: 0,
    execute: async ({ at }) => {
      began.push(at);
      if (at < 3) return `counted ${at}`;
      if (began.length === mostCallsAtOnce + 3) waited.resolve();
      return late.promise;
    },
  });
  const loop = await start([{ calls: callsOf('deaf', 200) }, { text: 'never asked' }], { tools: [deaf] });
  const running = loop.run('go', { signal: controller.signal });
  await waited.promise;
  controller.abort();
  await expect(running).rejects.toMatchObject({ code: 'cancelled' });
  const { length: writes } = loop.recorded;
  expect(
    loop.recorded
      .at(-1)?.[0]
      ?.calls.slice(0, 4)
      .map(({ status }) => status),
  ).toEqual(['done', 'done', 'done', 'running']);
  const { length: events } = loop.events;
  late.resolve('too late');
  for (let turns = 0; turns < 5; turns += 1) await giveWay();
  expect(began).toHaveLength(mostCallsAtOnce + 3);
  expect([loop.recorded.length, loop.events.length]).toEqual([writes, events]);
});

it('fails when what was done cannot be written down', async () => {
  const loop = await start([{ calls: callsOf('count', 2) }, { text: 'never asked' }], { tools: [count] });
  let writes = 0;
  const onSteps = async (): Promise<void> => {
    writes += 1;
    if (writes > 1) throw new Error('the disk is full');
  };
  await expect(loop.run('go', { onSteps })).rejects.toThrow('the disk is full');
  expect(loop.model.requests).toHaveLength(1);
});
