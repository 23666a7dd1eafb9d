import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { silentLog } from '../kernel/log.ts';
import type { Plugin, ServiceKey } from '../plugin/plugin.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { defineTool } from '../tool/define-tool.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import type { Gantry, GantryOptions } from './create-gantry.ts';
import { createGantry } from './create-gantry.ts';

const dirs: string[] = [];
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true });
});

const start = (plugins: readonly Plugin[], options: GantryOptions = {}): Promise<Gantry> =>
  createGantry({ dataDir: ':memory:', log: silentLog, ...options })
    .use(...plugins)
    .start();

const greeter: Plugin = {
  name: 'greeter',
  setup: ({ tools }) => {
    const tool = defineTool({
      name: 'greet',
      description: 'Greets.',
      input: z.strictObject({ name: z.string() }),
      execute: ({ name }) => `Hello ${name}`,
    });
    tools.register(tool.registration, tool.executor);
  },
};

it('offers the tools of its plugins and calls them', async () => {
  await using gantry = await start([greeter]);
  expect(gantry.toolset().tools.map((tool) => tool.name)).toContain('greet');
  expect(outcomeText(await gantry.call('greet', { name: 'Ada' }))).toBe('Hello Ada');
});

it('has guides and working memory without any plugin', async () => {
  await using gantry = await start([]);
  expect(outcomeText(await gantry.call('list_tool_guides'))).toContain('memory');
  await gantry.call('save_to_working_memory', { key: 'k', data: 'kept' }, { namespace: 'session/1', caller: 'model' });
  expect(outcomeText(await gantry.call('get_from_working_memory', { key: 'session/1/k' }))).toContain('kept');
});

it('keeps an over-long result of a model’s call where get_from_working_memory finds it whole', async () => {
  const long = 'x'.repeat(70_000);
  const plugin: Plugin = {
    name: 'long',
    setup: ({ tools }) => {
      const tool = defineTool({ name: 'long', description: 'd', execute: () => long });
      tools.register(tool.registration, tool.executor);
    },
  };
  await using gantry = await start([plugin]);
  const context = { caller: 'model', namespace: 'session/1' } as const;
  const index = outcomeText(await gantry.call('long', {}, context));
  const keys = [...index.matchAll(/`(session[^`]+chunk\d+)`/g)].map((match) => match[1] as string);
  const chunks = await Promise.all(keys.map(async (key) => (await gantry.memory.get(key))?.text));
  expect(chunks.join('')).toBe(long);
  expect(
    outcomeText(await gantry.call('get_from_working_memory', { key: keys[0] as string }, context)).length,
  ).toBeGreaterThan(60_000);
});

describe('plugins', () => {
  const recorder = (events: string[], name: string, ...needs: string[]): Plugin => ({
    name,
    needs,
    setup: (gantry) => {
      events.push(`setup ${name}`);
      gantry.onStart(() => void events.push(`start ${name}`));
      gantry.onStop(() => void events.push(`stop ${name}`));
    },
  });

  it('start in the order of their needs and stop in reverse', async () => {
    const events: string[] = [];
    const gantry = await start([recorder(events, 'b', 'a'), recorder(events, 'a')]);
    await gantry[Symbol.asyncDispose]();
    expect(events).toEqual(['setup a', 'setup b', 'start a', 'start b', 'stop b', 'stop a']);
  });

  it('give each other services by key', async () => {
    const clockKey: ServiceKey<{ tick(): number }> = { name: 'ticker' };
    await using gantry = await start([
      { name: 'user', needs: ['owner'], setup: (host) => void host.service(clockKey).tick() },
      { name: 'owner', setup: (host) => host.provide(clockKey, { tick: () => 1 }) },
    ]);
    expect(gantry.service(clockKey)?.tick()).toBe(1);
  });

  it('are told when a service they ask for is provided by nobody', async () => {
    await expect(start([{ name: 'user', setup: (host) => void host.service({ name: 'ticker' }) }])).rejects.toThrow(
      /No plugin provides "ticker"/,
    );
  });

  it('that set up before one failed are stopped', async () => {
    const events: string[] = [];
    const broken: Plugin = { name: 'broken', setup: () => Promise.reject(new Error('no disk')) };
    await expect(start([recorder(events, 'a'), broken])).rejects.toThrow('no disk');
    expect(events).toEqual(['setup a', 'stop a']);
  });

  it('all stop even when one does not stop cleanly', async () => {
    const events: string[] = [];
    const broken: Plugin = { name: 'broken', setup: (host) => host.onStop(() => Promise.reject(new Error('stuck'))) };
    const gantry = await start([recorder(events, 'a'), broken]);
    await gantry[Symbol.asyncDispose]();
    expect(events.at(-1)).toBe('stop a');
  });
});

describe('stopping', () => {
  it('waits for calls that run and takes no new ones', async () => {
    const running = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const slow: Plugin = {
      name: 'slow',
      setup: ({ tools }) => {
        const tool = defineTool({
          name: 'slow',
          description: 'd',
          execute: async () => {
            running.resolve();
            await release.promise;
            return 'finished';
          },
        });
        tools.register(tool.registration, tool.executor);
      },
    };
    const gantry = await start([slow]);
    const call = gantry.call('slow');
    await running.promise;
    const stopped = gantry[Symbol.asyncDispose]();
    await expect(gantry.call('slow')).rejects.toMatchObject({ code: 'stopped' });
    release.resolve();
    expect(outcomeText(await call)).toBe('finished');
    await stopped;
  });

  it('aborts calls that take longer, and tells their callers before anything they run on goes away', async () => {
    const clock = fakeClock();
    const running = Promise.withResolvers<AbortSignal | undefined>();
    const events: string[] = [];
    const endless: Plugin = {
      name: 'endless',
      setup: ({ tools, onStop }) => {
        const tool = defineTool({
          name: 'endless',
          description: 'd',
          execute: async (_args, { signal }) => {
            running.resolve(signal);
            return new Promise<string>(() => {});
          },
        });
        tools.register(tool.registration, tool.executor);
        onStop(() => void events.push('plugin stopped'));
      },
    };
    const gantry = await start([endless], { clock });
    const call = gantry.call('endless').catch((error: unknown) => {
      events.push('caller told');
      throw error;
    });
    const refused = expect(call).rejects.toMatchObject({ code: 'stopped', retry: 'later' });
    const signal = await running.promise;
    const stopped = gantry[Symbol.asyncDispose]();
    await clock.advance(4999);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    await refused;
    await stopped;
    expect(signal?.aborted).toBe(true);
    expect(events).toEqual(['caller told', 'plugin stopped']);
  });

  it('hands a caller who gives up through to the tool', async () => {
    const running = Promise.withResolvers<AbortSignal | undefined>();
    const endless: Plugin = {
      name: 'endless',
      setup: ({ tools }) => {
        const tool = defineTool({
          name: 'endless',
          description: 'd',
          execute: async (_args, { signal }) => {
            running.resolve(signal);
            return new Promise<string>(() => {});
          },
        });
        tools.register(tool.registration, tool.executor);
      },
    };
    await using gantry = await start([endless]);
    const caller = new AbortController();
    const call = gantry.call('endless', {}, { signal: caller.signal });
    const signal = await running.promise;
    caller.abort();
    expect(signal?.aborted).toBe(true);
    expect(await call).toMatchObject({ status: 'failed' });
  });
});

it('keeps working memory over a restart on the same folder', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'gantry-data-'));
  dirs.push(dataDir);
  const home = mkdtempSync(join(tmpdir(), 'gantry-home-'));
  dirs.push(home);
  const env = { HOME: home };
  await using first = await start([], { dataDir, env });
  await first.call('save_to_working_memory', { key: 'shared/k', data: 'kept' });
  await first[Symbol.asyncDispose]();
  await using second = await start([], { dataDir, env });
  expect(outcomeText(await second.call('get_from_working_memory', { key: 'shared/k' }))).toContain('kept');
});
