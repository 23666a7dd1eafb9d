import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import { createOpaqueIds } from '../../tool/opaque-ids.ts';
import { textOutcome } from '../../tool/outcome.ts';
import { createVolume } from '../../volume/volume.ts';
import type { WispLab } from './__fixtures__/wisp-lab.ts';
import { llm, mcp, openWispLab, said, wisp, wispIdIn } from './__fixtures__/wisp-lab.ts';

let lab: WispLab;
beforeEach(async () => {
  lab = await openWispLab();
});
afterEach(() => lab[Symbol.asyncDispose]());

describe('a step of a model', () => {
  it('runs on the low tier with the tools of the pipeline and its own memory, and nothing else', async () => {
    await lab.run({
      description: 'd',
      tools: ['analyze_file'],
      steps: [
        mcp('a'),
        { id: 'w', mode: 'Direct', gateway: 'Web', tool: 'web_browse', params: { url: 'u' } },
        llm('b', 'Sum {{steps.a.result}} up.'),
      ],
    });
    expect(lab.runs).toMatchObject([
      {
        tier: 'low',
        isTierPinned: true,
        namespace: lab.calls[0]?.context.namespace,
        context: { receivesLateResults: false },
      },
    ]);
    expect(lab.runs[0]?.scope).toEqual([
      'notes__add',
      'web_browse',
      'analyze_file',
      'get_from_working_memory',
      'save_to_working_memory',
      'search_working_memory',
      'delete_from_working_memory',
    ]);
    expect(said(lab.runs[0]!)).toMatch(/^Sum \{\} up\.\n\n<data from="a">\n\{\}\n<\/data>\n<data from="w">/);
  });

  it('keeps what it names, whatever does the work of it elsewhere, as a step that calls it does', async () => {
    const { callable } = lab;
    lab.callable = {
      ...callable,
      find: (name, context) =>
        name === 'analyze_file' && context.namedTools?.has(name) !== true ? undefined : callable.find(name, context),
    };
    const look = { id: 'w', mode: 'Direct', gateway: 'Web', tool: 'web_search', params: { query: 'q' } };
    await lab.run({ description: 'd', tools: ['analyze_file'], steps: [look, mcp('m'), llm('a')] });
    expect(lab.runs[0]?.scope).toContain('analyze_file');
    expect(lab.calls.map(({ context }) => context.namedTools)).toEqual([new Set(['web_search']), undefined]);
  });

  it('may name what only a loop is given, which its own is', async () => {
    const { callable } = lab;
    lab.callable = {
      ...callable,
      find: (name, context) =>
        name === 'analyze_file' && context.takesContextItems !== true ? undefined : callable.find(name, context),
    };
    await lab.run({ description: 'd', tools: ['analyze_file'], steps: [llm('a')] });
    expect(lab.runs[0]?.scope).toContain('analyze_file');
  });

  it('reads a file by its id of the turn, and its calls know the ids too', async () => {
    await createVolume(join(lab.folder, 'shared')).write('plan.txt', Buffer.from('the plan'), {});
    const ids = createOpaqueIds();
    ids.issue('media', 'plan.txt');
    await lab.run(wisp(mcp('m', {}), llm('a', 'Sum up.', { input_from: 'media_1' })), { ids });
    expect(said(lab.runs[0]!)).toContain('the plan');
    expect([lab.calls[0]?.context.ids, lab.runs[0]?.context?.ids]).toEqual([ids, ids]);
  });

  it('gets all tools of a server that is named', async () => {
    await lab.run({ description: 'd', tools: ['notes'], steps: [llm('a')] });
    expect(lab.runs[0]?.scope?.slice(0, 2)).toEqual(['notes__add', 'notes__list']);
  });

  it('does not run with a tool that does not exist', async () => {
    const report = await lab.run({ description: 'd', tools: ['analyse_file'], steps: [llm('a')] });
    expect(report).toContain(
      'Structural: "tools" names what is not registered: "analyse_file" (did you mean analyze_file',
    );
    expect(lab.runs).toEqual([]);
  });

  it('gets what it names, of the steps, of its caller, or of the shared folder', async () => {
    await lab.memory.save('session/s1/plan', 'my plan');
    await lab.memory.save('shared/rules', 'the rules');
    createVolume(join(lab.folder, 'shared'));
    await createVolume(join(lab.folder, 'shared')).write('in.txt', Buffer.from('a file'));
    for (const [name, text] of [
      ['a', '{"n":1}'],
      ['plan', 'my plan'],
      ['shared/rules', 'the rules'],
      ['in.txt', 'a file'],
    ] as const) {
      await lab.run(wisp(mcp('a', { n: 1 }), mcp('z', { n: 2 }), llm('b', 'x', { input_from: name })));
      expect(said(lab.runs.at(-1)!)).toBe(`x\n\n<data from="${name}">\n${text}\n</data>`);
    }
  });

  it('does not run when what it names is not there, or is no text', async () => {
    expect(await lab.run(wisp(llm('b', 'x', { input_from: 'nowhere' })))).toContain(
      'Structural: "input_from" names "nowhere", which is no earlier step',
    );
    await createVolume(join(lab.folder, 'shared')).write('bin', Buffer.from([0xff, 0xfe, 0x00]));
    writeFileSync(join(lab.folder, 'outside.txt'), 'secret');
    expect(await lab.run(wisp(llm('b', 'x', { input_from: 'bin' })))).toContain('Structural');
    expect(await lab.run(wisp(llm('b', 'x', { input_from: '../outside.txt' })))).toContain('Structural');
    expect(lab.runs).toEqual([]);
  });

  it('gets long content as an index of parts that it can read', async () => {
    const long = `# One\n${'x'.repeat(30_000)}\n# Two\ny`;
    lab.invoke = async () => textOutcome(long);
    const id = wispIdIn(await lab.run(wisp(mcp('a'), llm('b', 'x', { input_from: 'a' }))));
    expect(said(lab.runs[0]!).length).toBeLessThan(2_000);
    expect(said(lab.runs[0]!)).toContain(`wisp/${id}/b/input-chunk0`);
    const parts = await Promise.all([0, 1, 2].map((at) => lab.memory.get(`wisp/${id}/b/input-chunk${at}`)));
    expect(parts.map((part) => part?.text ?? '').join('')).toContain('x'.repeat(20_000));
    expect(parts.at(-1)?.text).toBe('y');
  });

  it('gets the first 4,000 characters of each step before, and where the rest is', async () => {
    lab.invoke = async () => textOutcome('z'.repeat(9_000));
    const id = wispIdIn(await lab.run(wisp(mcp('a'), mcp('b'), llm('c'))));
    expect(said(lab.runs[0]!).length).toBeLessThan(9_000);
    expect(said(lab.runs[0]!)).toContain(`[5000 more characters: get_from_working_memory("wisp/${id}/a/output")]`);
  });

  it.each([
    ['fails', new GantryError('model_failed', 'down'), 'External: down'],
    ['is not configured', new GantryError('model_missing', 'none'), 'Judgment: none'],
    ['gives anything else', new Error('odd'), 'Judgment: odd'],
  ])('whose model %s ends the pipeline', async (_, error, text) => {
    lab.think = async () => Promise.reject(error);
    expect(await lab.run(wisp(llm('a'), mcp('b')))).toContain(`step "a", ${text}`);
    expect(lab.calls).toEqual([]);
  });
});
