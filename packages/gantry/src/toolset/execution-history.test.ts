import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Invoker } from '../invoke/invoker.ts';
import { GantryError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { FakeClock } from '../testing/fake-clock.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { ToolRegistry } from '../tool/registry.ts';
import type { ExecutionHistory } from './execution-history.ts';
import { createExecutionHistory } from './execution-history.ts';

let clock: FakeClock;
let history: ExecutionHistory;
let registry: ToolRegistry;
let invoker: Invoker;

beforeEach(() => {
  clock = fakeClock();
  registry = registryOf(
    defineTool({
      name: 'login',
      description: 'Logs in.',
      category: 'utility',
      input: z.looseObject({ n: z.number().optional() }),
      execute: async ({ n }) => {
        await clock.advance(5);
        if (n === -1) throw new Error('broken: token=abc123def456ghi789');
        return `done ${n}`;
      },
    }),
    defineTool({
      name: 'draw',
      aliases: ['paint'],
      description: 'Draws.',
      execute: () => ({
        status: 'done',
        parts: [{ type: 'image', mimeType: 'image/png', data: 'QUJD'.repeat(1000) }],
      }),
    }),
  );
  history = createExecutionHistory({ clock, registry });
  invoker = history.remembering(makeInvoker(registry, { clock }));
});
const call = (name: string, args: object = {}) =>
  invoker.invoke(
    { name, arguments: JSON.stringify(args) },
    { caller: 'model', namespace: 'session/s1', model: { provider: 'openai' } },
  );

describe('the history of calls', () => {
  it('says who called what, how it ended and how long it took, newest first', async () => {
    await call('login', { n: 1 });
    await call('nope');
    expect(history.list()).toMatchObject([
      { toolName: 'nope', status: 'failed', workspace: 'unknown' },
      {
        toolName: 'login',
        provider: 'openai',
        caller: 'session/s1',
        parameters: { n: 1 },
        status: 'done',
        result: 'done 1',
        durationMs: 5,
      },
    ]);
    expect(history.list(1)).toHaveLength(1);
    expect(history.list(0)).toEqual([]);
  });

  it('holds no secret, no bytes and nothing that is long', async () => {
    await call('login', { password: 'hunter2', text: 'x'.repeat(9000) });
    await call('login', { n: -1 });
    await call('draw');
    const text = JSON.stringify(history.list());
    expect(text).not.toContain('hunter2');
    expect(text).not.toContain('abc123def456ghi789');
    expect(text).not.toContain('QUJDQUJD');
    expect(text.length).toBeLessThan(3000);
  });

  it('counts a call by an earlier name under the name of the tool', async () => {
    await call('paint');
    expect(history.list().map(({ toolName, status }) => [toolName, status])).toEqual([['draw', 'done']]);
  });

  it('holds no file that was sent along, at whatever depth', async () => {
    const bytes = 'iVBORw0KGgoAAAANSUhEUgAA'.repeat(20);
    await call('login', {
      image: `data:image/png;base64,${bytes}`,
      plain: bytes,
      deep: { files: [bytes] },
      kept: 'a picture',
    });
    const [{ parameters } = { parameters: {} }] = history.list();
    expect(JSON.stringify(parameters)).not.toContain('iVBORw0KGgo');
    expect(parameters).toMatchObject({ plain: '(480 characters of data)', kept: 'a picture' });
  });

  it('holds a call that the stop of the gateway ended, and one by a name nobody would write', async () => {
    const stopped = history.remembering({
      ...invoker,
      invoke: () => Promise.reject(new GantryError('stopped', 'Gantry is stopping.')),
    });
    await expect(stopped.invoke({ name: 'draw' }, { caller: 'model' })).rejects.toThrow('stopping');
    await call('n'.repeat(10_000));
    expect(history.list()).toMatchObject([{ toolName: 'n'.repeat(128) }, { toolName: 'draw', status: 'failed' }]);
  });

  it('holds keys that every object has, like any other', async () => {
    const args = JSON.parse('{"__proto__": {"polluted": 1}, "constructor": "c"}') as JsonObject;
    await invoker.invoke({ name: 'draw', arguments: args }, { caller: 'model' });
    const [{ parameters } = { parameters: {} }] = history.list();
    expect(Object.keys(parameters)).toEqual(['__proto__', 'constructor']);
    const odd = ['__proto__', 'constructor'].map((category) =>
      defineTool({ name: `of ${category}`, description: 'd', category, execute: () => '' }),
    );
    const { toolsByCategory } = history.stats(odd.map(({ registration }) => registration));
    expect(Object.entries(toolsByCategory)).toEqual([
      ['__proto__', 1],
      ['constructor', 1],
    ]);
  });

  it('keeps little of ten thousand arguments', async () => {
    const args = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`key${n}`, 'x'.repeat(400)]));
    await call('login', args);
    expect(JSON.stringify(history.list()).length).toBeLessThan(12_000);
  });

  it('survives arguments that are no JSON', async () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    await invoker.invoke({ name: 'draw', arguments: { loop } as never }, { caller: 'model' });
    await invoker.invoke({ name: 'draw', arguments: '{"cut' }, { caller: 'model' });
    expect(history.list().map(({ parameters }) => parameters)).toEqual([{}, { loop: '(not JSON)' }]);
  });

  it('keeps the newest 900 when there are more than 1,000', async () => {
    for (let n = 1; n <= 1000; n += 1) await call('draw', { n });
    expect(history.list(5000)).toHaveLength(1000);
    await call('draw', { n: 1001 });
    expect(history.list(5000)).toHaveLength(900);
    expect(history.list(1)[0]?.parameters).toEqual({ n: 1001 });
    expect(history.list(5000).at(-1)?.parameters).toEqual({ n: 102 });
  });

  it('counts tools by category, and calls of a day and of all time', async () => {
    await call('draw');
    await clock.advance(25 * 3_600_000);
    await call('draw');
    expect(history.stats(registry.getTools())).toEqual({
      totalTools: 2,
      toolsByCategory: { utility: 1, local: 1 },
      recentExecutions: 1,
      totalExecutions: 2,
    });
  });
});
