import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { textOutcome } from '../../tool/outcome.ts';
import type { WispLab } from './__fixtures__/wisp-lab.ts';
import { llm, mcp, minuteMs, openWispLab, said, wisp, wispIdIn } from './__fixtures__/wisp-lab.ts';

let lab: WispLab;
beforeEach(async () => {
  lab = await openWispLab();
});
afterEach(() => lab[Symbol.asyncDispose]());

describe('a pipeline', () => {
  it('runs its steps in order, each with what those before gave', async () => {
    lab.invoke = async (_name, args) => textOutcome(`got ${JSON.stringify(args['x'] ?? 1)}`);
    const report = await lab.run([
      wisp(mcp('a'), mcp('b', { x: '{{steps.a.result}}' }), mcp('c', { x: '{{steps.b.result}}' })),
    ]);
    expect(lab.calls.map(({ args }) => args)).toEqual([{}, { x: 'got 1' }, { x: 'got "got 1"' }]);
    expect(report).toMatch(/^1 wisp\(s\) completed \(1 succeeded, 0 failed, 1 total\)\./);
    expect(report).toMatch(/wisp-[0-9a-f]{11} "test": ok, \d+ ms\ngot "got/);
    expect(report).toMatch(/Batch batch-[0-9a-f]{12}\./);
  });

  it('is no caller that servers could ask or answer late, and gets results whole', async () => {
    await lab.run(wisp(mcp('a')), {
      workspace: 'w',
      features: new Set(['f']),
      answersQuestions: true,
      receivesLateResults: true,
    });
    const [{ context } = { context: undefined }] = lab.calls;
    expect(context).toMatchObject({ caller: 'model', tier: 'low', workspace: 'w', wholeResults: true });
    expect(context?.namespace).toMatch(/^wisp\/wisp-[0-9a-f]{11}$/);
    expect(context?.answersQuestions).toBeUndefined();
    expect(context?.receivesLateResults).toBeUndefined();
  });

  it('keeps any result literal in what the next step gets', async () => {
    const odd = 'a "quoted"\nline {{steps.a.result}} \\ $& \u2028';
    lab.invoke = async (_name, args) => (args['x'] === undefined ? textOutcome(odd) : textOutcome('done'));
    await lab.run(wisp(mcp('a'), mcp('b', { x: 'before {{steps.a.result}} after', list: ['{{steps.a.result}}'] })));
    expect(lab.calls[1]?.args).toEqual({ x: `before ${odd} after`, list: [odd] });
  });

  it('ends where a step fails, and tells what is known', async () => {
    lab.fails('b');
    const report = await lab.run(wisp(mcp('a'), mcp('b', { at: 'b' }), mcp('c')));
    expect(lab.calls).toHaveLength(2);
    expect(report).toMatch(/^ALL WISPS FAILED: 1 wisp/);
    expect(report).toContain('step "b", External: The disk is full');
    expect(report).toContain('tool: notes__add');
    expect(report).toContain('completed steps: a');
  });

  it('goes on with a later step where that was wanted, and what is between is skipped', async () => {
    lab.fails('a');
    const skip = { on_failure: { action: 'skip_to', skip_to: 'c' } };
    const report = await lab.run(wisp(mcp('a', { at: 'a' }, skip), mcp('b'), mcp('c', { at: 'c' })));
    expect(lab.calls.map(({ args }) => args['at'])).toEqual(['a', 'c']);
    expect(report).toContain('1 succeeded');
    expect(report).toContain('note: step "a" failed (External: The disk is full), went on with "c"');
  });

  it('fails where a step needs the result of one that was skipped', async () => {
    lab.fails('a');
    const skip = { on_failure: { action: 'skip_to', skip_to: 'c' } };
    const report = await lab.run(wisp(mcp('a', { at: 'a' }, skip), mcp('b'), mcp('c', { x: '{{steps.b.result}}' })));
    expect(report).toContain('step "c", Structural: {{steps.b.result}} leads to nothing');
    expect(lab.calls).toHaveLength(1);
  });

  it('ends with a step of a model that fails, whatever was wanted', async () => {
    lab.think = async () => ({ text: 'half', endedBy: 'errors' });
    const report = await lab.run(wisp(llm('a', 'x', { on_failure: { action: 'skip_to', skip_to: 'b' } }), mcp('b')));
    expect(report).toContain('step "a", Judgment: The model did not finish (errors): half');
    expect(lab.calls).toEqual([]);
  });

  it('gives a step its time and no more, whether or not its tool listens', async () => {
    lab.invoke = () => new Promise(() => {});
    const running = lab.run(wisp(mcp('a', {}, { timeout_minutes: 2 })));
    await lab.clock.advance(0);
    expect(lab.calls[0]?.context.timeoutMs).toBe(2 * minuteMs);
    await lab.clock.advance(2 * minuteMs);
    expect(await running).toContain('External: No result within 120000 ms.');
  });

  it('ends when its caller gives up', async () => {
    const controller = new AbortController();
    lab.invoke = (_name, _args, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const running = lab.run([wisp(mcp('a'), mcp('b')), wisp(mcp('c'))], { signal: controller.signal });
    await lab.clock.advance(0);
    controller.abort(new GantryError('cancelled', 'gone'));
    await expect(running).rejects.toMatchObject({ code: 'cancelled' });
    expect(lab.calls).toHaveLength(2);
  });

  it('cannot call other agents', async () => {
    const report = await lab.run(
      wisp({ id: 'a', mode: 'Direct', gateway: 'A2A', agent: 'bob', skill: 's', message: 'm' }),
    );
    expect(report).toContain('step "a", Structural: Agent "bob" was not called');
  });

  it('routes scripts and the web to their tools', async () => {
    await lab.run(
      wisp(
        { id: 'a', mode: 'Direct', gateway: 'Web', tool: 'web_search', params: { query: 'q' } },
        { id: 'b', mode: 'Direct', gateway: 'Script', params: { script: 'print(1)' }, input_from: 'a' },
        { id: 'c', mode: 'Direct', gateway: 'Script', language: 'JavaScript', params: { script: '1' } },
      ),
    );
    expect(lab.calls.map(({ name, args }) => [name, args])).toEqual([
      ['web_search', { query: 'q' }],
      ['execute_python_script', { script: 'print(1)', input_data: '{"query":"q"}' }],
      ['execute_javascript_script', { script: '1' }],
    ]);
  });
});

describe('the outputs of steps', () => {
  it('stay an hour when the pipeline failed, and five minutes when it worked', async () => {
    lab.fails('b');
    const failed = wispIdIn(await lab.run(wisp(mcp('a', { n: 1 }), mcp('b', { at: 'b' }))));
    const worked = wispIdIn(await lab.run(wisp(mcp('a', { n: 2 }))));
    const read = async (id: string): Promise<unknown> => lab.memory.get(`wisp/${id}/a/output`);
    expect(await read(failed)).toMatchObject({ text: '{"n":1}', category: 'wisp-output' });
    expect(await read(worked)).toMatchObject({ text: '{"n":2}' });
    await lab.clock.advance(6 * minuteMs);
    expect(await read(worked)).toBeUndefined();
    expect(await read(failed)).toBeDefined();
    await lab.clock.advance(55 * minuteMs);
    expect(await read(failed)).toBeUndefined();
  });

  it('are written to files of the shared folder, and can be named there', async () => {
    await lab.run(
      wisp(
        mcp('a', { n: 1 }, { output_to: 'deep/out.json' }),
        mcp('b', { file: '{{steps.a.output_to}}' }),
        llm('c', 'x', { input_from: '{{steps.a.output_to}}' }),
      ),
    );
    expect(readFileSync(join(lab.folder, 'shared/deep/out.json'), 'utf8')).toBe('{"n":1}');
    expect(lab.calls[1]?.args).toEqual({ file: 'deep/out.json' });
    expect(said(lab.runs[0]!)).toContain('<data from="deep/out.json">\n{"n":1}\n</data>');
  });

  it.each(['../../etc/x', '../shared-evil/x', 'ABSOLUTE'])(
    'are not written to %s, and nothing else changes',
    async (path) => {
      const target = path === 'ABSOLUTE' ? join(lab.folder, 'shared-evil', 'x') : path;
      const report = await lab.run(wisp(mcp('a', {}, { output_to: target }), mcp('b')));
      expect(report).toContain('1 succeeded');
      expect(report).toContain('note: step "a": "output_to" was not written');
      expect(existsSync(join(lab.folder, 'shared-evil'))).toBe(false);
      expect(existsSync(join(lab.folder, '..', 'etc'))).toBe(false);
      expect(lab.calls).toHaveLength(2);
    },
  );

  it('are shown in part, and kept whole', async () => {
    lab.invoke = async () => textOutcome('x'.repeat(50_000));
    const report = await lab.run(wisp(mcp('a')));
    expect(report.length).toBeLessThan(3_000);
    const key = /the whole of it, for 5 minutes: `(.+)`/.exec(report)?.[1] ?? '';
    expect(key).toBe(`wisp/${wispIdIn(report)}/a/output`);
    expect((await lab.memory.get(key))?.text).toHaveLength(50_000);
  });
});

it.each([
  ['a conversation', { caller: 'model', namespace: 'session/s1' }, true],
  ['a subagent', { caller: 'model', namespace: 'subagent/abc' }, true],
  ['a scheduled run', { caller: 'model', namespace: 'patrol/x' }, true],
  ['a pipeline', { caller: 'model', namespace: 'wisp/wisp-1' }, false],
  ['a client', { caller: 'client', namespace: 'session/s1' }, false],
] as const)('pipelines are offered to %s: %j → %s', (_, context, isOffered) => {
  expect(lab.tool.registration.available?.(context)).toBe(isOffered);
});
