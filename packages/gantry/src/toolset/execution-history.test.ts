import { beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { Invoker } from '../invoke/invoker.ts';
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
  history = createExecutionHistory({ clock });
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
      description: 'Draws.',
      execute: () => ({
        status: 'done',
        parts: [{ type: 'image', mimeType: 'image/png', data: 'QUJD'.repeat(1000) }],
      }),
    }),
  );
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

  it('survives arguments that are no JSON', async () => {
    const loop: Record<string, unknown> = {};
    loop['self'] = loop;
    await invoker.invoke({ name: 'draw', arguments: { loop } as never }, { caller: 'model' });
    await invoker.invoke({ name: 'draw', arguments: '{"cut' }, { caller: 'model' });
    expect(history.list().map(({ parameters }) => parameters)).toEqual([{}, { loop: '(not JSON)…' }]);
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
