import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GantryFolder } from './fixtures/gantry-process.ts';
import { makeGantryFolder } from './fixtures/gantry-process.ts';

let folder: GantryFolder;
beforeEach(() => {
  folder = makeGantryFolder();
});
afterEach(() => folder[Symbol.dispose]());

const problem = (part: string): unknown => expect.stringContaining(part);

describe('gantry schedule', () => {
  it('plans without a gateway, and the gateway that starts next does the work', async () => {
    const words = ['--cron', '* * * * * *', '--once', '--tool', 'save_to_working_memory'];
    const args = '{"key":"shared/{task}","data":"was here","ttl_minutes":5}';
    const added = await folder.run(['schedule', 'add', 'Visit', ...words, '--args', args]);
    expect(added.stdout).toMatch(/^Task "Visit" is scheduled\. Next run: .* in [01] s\.\n$/);
    expect([added.code, added.stderr]).toEqual([0, problem('No gateway runs')]);

    await using gateway = await folder.serve();
    const shown = async (): Promise<{ task: unknown; history: { status: string; text: string }[] }> => {
      const [, document] = await folder.json(['schedule', 'show', 'visit']);
      return document as Awaited<ReturnType<typeof shown>>;
    };
    await expect.poll(async () => (await shown()).history.length, { timeout: 20_000 }).toBe(1);
    expect(await shown()).toMatchObject({ task: null, history: [{ status: 'done' }] });
    expect(await folder.json(['memory', 'list', 'shared/'])).toMatchObject([0, { entries: [{ key: 'shared/Visit' }] }]);
    expect((await folder.run(['memory', 'show', 'shared/visit'])).stdout).toBe('was here\n');
    expect(await folder.json(['memory', 'show', 'shared/other'])).toMatchObject([
      1,
      { error: { code: 'memory_unknown' } },
    ]);
    expect(await gateway.stop()).toBe(0);
  });

  it('plans, lists and cancels over a running gateway', async () => {
    await using gateway = await folder.serve();
    const when = ['--cron', '0 9 * * 1-5', '--time-zone', 'Asia/Tokyo'];
    const what = ['--prompt', 'Write the report.', '--workspace', 'guild/1'];
    const added = await folder.run(['schedule', 'add', 'report', ...when, ...what]);
    expect([added.code, added.stderr]).toEqual([0, problem('No model is configured')]);
    expect(added.stderr).not.toContain('No gateway');
    const task = { name: 'report', workspace: 'guild/1', timeZone: 'Asia/Tokyo', description: 'Write the report.' };
    expect(await folder.json(['schedule', 'list'])).toMatchObject([0, { tasks: [task] }]);
    expect((await folder.run(['schedule', 'list'])).stdout).toMatch(
      /^NAME +WORKSPACE +WHEN +NEXT RUN +WHAT\nreport +guild\/1 +0 9 \* \* 1-5 +\S+ 09:00:00 \(Asia\/Tokyo, UTC\+09:00\) +Write the report\.\n$/,
    );
    expect(await folder.json(['schedule', 'cancel', 'report'])).toMatchObject([
      1,
      { error: { code: 'schedule_unknown', message: problem('workspace "guild/1"') } },
    ]);
    expect(await folder.json(['schedule', 'cancel', 'report', '--workspace', 'guild/1'])).toEqual([
      0,
      { cancelled: 'report' },
    ]);
    expect((await folder.run(['schedule', 'list'])).stdout).toBe('No tasks are scheduled.\n');
    expect(await gateway.stop()).toBe(0);
  });

  it('says what is wrong with a time', async () => {
    expect(await folder.json(['schedule', 'add', 'x', '--at', '2020-01-01T00:00:00', '--prompt', 'p'])).toMatchObject([
      2,
      { error: { code: 'invalid_arguments', message: problem('has passed') } },
    ]);
  });
});
