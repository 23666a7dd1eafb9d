import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../kernel/log.ts';
import type { PluginHost } from '../plugin/plugin.ts';
import { openSqliteStore } from '../store/sqlite/open-sqlite-store.ts';
import type { FakeClock } from '../testing/fake-clock.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { makeInvoker } from '../testing/make-invoker.ts';
import { testKeyring } from '../testing/test-keyring.ts';
import { defineTool } from '../tool/define-tool.ts';
import { createGuideShelf } from '../tool/guide.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import { createToolRegistry } from '../tool/registry.ts';
import type { ScheduleOptions } from './schedule.ts';
import { schedule, schedulerKey } from './schedule.ts';
import type { Scheduler } from './scheduler.ts';

let clock: FakeClock;
let stack: AsyncDisposableStack;
beforeEach(() => {
  clock = fakeClock(Date.parse('2026-06-01T00:00:00Z'));
  stack = new AsyncDisposableStack();
});
afterEach(() => stack.disposeAsync());

/** Sets the plugin up in a host with real parts and starts it. */
const use = async (options: ScheduleOptions) => {
  const log = silentLog;
  const store = stack.use(await openSqliteStore({ path: ':memory:', clock, keyring: testKeyring('k1'), log }));
  const tools = createToolRegistry();
  const notes: string[] = [];
  const notify = defineTool({
    name: 'notify',
    description: 'Notes who called.',
    execute: (_, { caller, namespace }) => {
      notes.push(`${caller} ${namespace}`);
      return 'noted';
    },
  });
  tools.register(notify.registration, notify.executor);
  const invoker = makeInvoker(tools, { clock });
  const services = new Map<string, unknown>();
  const starts: (() => void | PromiseLike<void>)[] = [];
  // What the plugin makes use of.
  const host: Partial<PluginHost> = {
    tools,
    guides: createGuideShelf(),
    store,
    invoker,
    clock,
    log,
    onStart: (run) => void starts.push(run),
    onStop: (run) =>
      stack.defer(async () => {
        await run();
      }),
    provide: (key, service) => void services.set(key.name, service),
  };
  await schedule(options).setup(host as PluginHost);
  for (const start of starts) await start();
  const call = async (name: string, args: Record<string, string>): Promise<string> =>
    outcomeText(await invoker.invoke({ name, arguments: args }, { caller: 'model', namespace: 'session/1' }));
  return { tools, guides: host.guides, call, notes, scheduler: services.get(schedulerKey.name) as Scheduler };
};

describe('schedule', () => {
  it('registers its tools and its guide, and runs what a model schedules', async () => {
    const { tools, guides, call, notes, scheduler } = await use({ timeZone: 'UTC', action: { tool: 'notify' } });
    expect(tools.getTools().filter(({ source }) => source === 'scheduling')).toHaveLength(3);
    expect(guides?.find('scheduling')).toBeDefined();
    const answer = await call('schedule_task', { name: 'r', description: 'd', at: '2026-06-01T00:01:00' });
    expect(answer).not.toContain('No model');
    await clock.advance(60_000);
    expect(notes).toEqual(['model patrol/r']);
    expect(await scheduler.history('r')).toMatchObject([{ status: 'done', text: 'noted' }]);
  });

  it('keeps a prompt where no model can read it, says so, and records it as failed', async () => {
    const { call, scheduler } = await use({ timeZone: 'UTC' });
    const answer = await call('schedule_task', { name: 'r', description: 'd', cron: '* * * * *' });
    expect(answer).toContain('Note: No model is configured');
    await clock.advance(60_000);
    expect(await scheduler.history('r')).toMatchObject([
      { status: 'failed', text: expect.stringContaining('No model is configured') as string },
    ]);
    expect(await scheduler.get('r')).toBeDefined();
  });
});
