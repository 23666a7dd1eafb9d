import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kernel/json.ts';
import { failedOutcome, textOutcome } from '../../tool/outcome.ts';
import type { WispLab } from './__fixtures__/wisp-lab.ts';
import { mcp, minuteMs, openWispLab, wisp, wispIdIn } from './__fixtures__/wisp-lab.ts';

let lab: WispLab;
beforeEach(async () => {
  lab = await openWispLab();
});
afterEach(() => lab[Symbol.asyncDispose]());

describe('a batch', () => {
  it('runs ten at a time and all to their end', async () => {
    let active = 0;
    let most = 0;
    const gate = Promise.withResolvers<void>();
    lab.invoke = async () => {
      active += 1;
      most = Math.max(most, active);
      await gate.promise;
      active -= 1;
      return textOutcome('x');
    };
    const progress: number[] = [];
    const running = lab.run(
      Array.from({ length: 11 }, (_, at) => wisp(mcp('a', { at }))),
      { onProgress: ({ progress: done }) => progress.push(done) },
    );
    await lab.clock.advance(0);
    expect(lab.calls).toHaveLength(10);
    gate.resolve();
    expect(await running).toContain('11 wisp(s) completed (11 succeeded');
    expect(most).toBe(10);
    expect(progress).toEqual(Array.from({ length: 11 }, (_, at) => at + 1));
  });

  it('lets others have their turn between steps that wait for nothing', async () => {
    let others = 0;
    let isOver = false;
    const seen = new Set<number>();
    const other = (): void => {
      others += 1;
      if (!isOver) setImmediate(other);
    };
    lab.invoke = async () => textOutcome(`${seen.add(others).size}`);
    other();
    await lab.run(wisp(...Array.from({ length: 20 }, (_, at) => mcp(`s${at}`))));
    isOver = true;
    expect(seen.size).toBe(20);
  });

  it('of which one fails is a partial failure and no error', async () => {
    lab.fails('2', 'HTTP 503');
    const report = await lab.run(['1', '2', '3'].map((at) => wisp(mcp('a', { at }))));
    expect(report).toMatch(/^PARTIAL FAILURE: 3 wisp\(s\) completed \(2 succeeded, 1 failed, 3 total\)\./);
    expect(report.match(/: ok,/g)).toHaveLength(2);
  });

  it('of which all fail says so', async () => {
    lab.invoke = async () => failedOutcome('execution_failed', 'x');
    expect(await lab.run([wisp(mcp('a')), wisp(mcp('b'))])).toMatch(/^ALL WISPS FAILED: 2 wisp/);
  });

  it.each([
    ['one', '2'],
    ['all', undefined],
  ])('of which %s fail is no error of the call, whose report tells it', async (_what, failing) => {
    lab.invoke = async (_name, args) =>
      failing === undefined || args['at'] === failing
        ? failedOutcome('execution_failed', 'HTTP 503')
        : textOutcome('fine');
    const definitions = ['1', '2', '3'].map((at) => wisp(mcp('a', { at })));
    const { executor, registration } = lab.tool;
    const outcome = await executor.execute(
      { id: 'c', name: registration.name, arguments: { definitions } as JsonObject, registration },
      { caller: 'model', namespace: 'session/s1' },
    );
    expect(outcome.status).toBe('done');
    expect(lab.calls).toHaveLength(3);
  });

  it('has a summary under the key that it prints', async () => {
    lab.fails('2');
    const report = await lab.run(['1', '2'].map((at) => wisp(mcp('a', { at }))));
    const key = /get_from_working_memory\("(wisp\/batch-batch-[0-9a-f]{12}\/summary)"\)/.exec(report)?.[1] ?? '';
    const summary = JSON.parse((await lab.memory.get(key))?.text ?? '') as object;
    expect(summary).toMatchObject({
      total: 2,
      succeeded: 1,
      failed: 1,
      wisps: [{ isSuccess: true }, { isSuccess: false, failure: { category: 'External', stepId: 'a' } }],
    });
    await lab.clock.advance(61 * minuteMs);
    expect(await lab.memory.get(key)).toBeUndefined();
  });

  it('refuses the very same pipeline the 31st time within five minutes, and no other', async () => {
    const same = (count: number): object[] => Array.from({ length: count }, () => wisp(mcp('a', { n: 1 })));
    await lab.run(same(30));
    const report = await lab.run([...same(1), wisp(mcp('a', { n: 2 }))]);
    expect(report).toMatch(/^PARTIAL FAILURE/);
    expect(report).toContain('Not run: this very pipeline ran 30 times within five minutes.');
    expect(lab.calls).toHaveLength(31);
    await lab.clock.advance(5 * minuteMs);
    expect(await lab.run(same(1))).toContain('1 succeeded');
  });

  it('is an error only when its definitions are wrong, and then nothing runs', async () => {
    await expect(lab.run([wisp(mcp('a')), wisp()])).rejects.toMatchObject({ code: 'invalid_arguments' });
    expect(lab.calls).toEqual([]);
  });

  it('is put into the log, with what a success made good', async () => {
    lab.fails('1', 'key sk-abcdefghijklmnopqrstuvwx123456 is wrong');
    const failed = wispIdIn(await lab.run(wisp(mcp('a', { at: '1' }))));
    lab.fails('never');
    await lab.run(wisp(mcp('a', { at: '1' })));
    await lab.run(wisp(mcp('a', { at: '1' })));
    await lab.run(wisp(mcp('a', { at: '1' })), { namespace: 'session/other' });
    const path = join(lab.folder, 'data/wisps.jsonl');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    expect(lines[0]).not.toContain('sk-abc');
    const records = lines.map((line) => JSON.parse(line) as { definition: string; retryOf?: string });
    expect(records).toMatchObject([
      { wispId: failed, session: 'session/s1', isSuccess: false, failure: { stepId: 'a', category: 'External' } },
      { isSuccess: true, retryOf: failed },
      { isSuccess: true },
      { isSuccess: true, session: 'session/other' },
    ]);
    expect(records.filter(({ retryOf }) => retryOf !== undefined)).toHaveLength(1);
    expect(new Set(records.map(({ definition }) => definition)).size).toBe(1);
  });
});
