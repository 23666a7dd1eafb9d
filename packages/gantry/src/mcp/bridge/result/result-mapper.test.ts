import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../kernel/log.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { outcomeText } from '../../../tool/outcome-text.ts';
import type { Volume } from '../../../volume/volume.ts';
import { createResultMapper } from './result-mapper.ts';

const saved: { name: string; size: number }[] = [];
const volume: Pick<Volume, 'saveNew'> = {
  saveNew: async (folder, name, bytes) => {
    if (name.startsWith('full')) throw new Error('no space left');
    saved.push({ name, size: bytes.byteLength });
    return { path: `/shared/${folder}/${name}`, name, size: bytes.byteLength };
  },
};
const map = createResultMapper({ volume, log: silentLog });
const outcomeOf = (raw: unknown, context: Partial<CallContext> = {}): Promise<Outcome> =>
  map(raw, { server: 's', tool: 't', context: { caller: 'model', ...context } });

interface Case {
  readonly id: string;
  readonly input: { readonly result?: unknown; readonly rows?: readonly { readonly result: unknown }[] };
}
const { cases } = JSON.parse(
  readFileSync(new URL('../../../../../../test/data/field-cases/c-results.json', import.meta.url), 'utf8'),
) as { cases: readonly Case[] };
const inputOf = (id: string): Case['input'] => {
  const found = cases.find((one) => one.id === id);
  if (!found) throw new Error(`no case ${id}`);
  return found.input;
};
const textOf = async (raw: unknown): Promise<string> => outcomeText(await outcomeOf(raw));

describe('results as servers really send them', () => {
  it('c-structured-only: shows the data and keeps it', async () => {
    const outcome = await outcomeOf(inputOf('c-structured-only').result);
    expect(outcomeText(outcome)).toContain('"Ada"');
    expect(outcome).toMatchObject({ status: 'done', structured: { total: 1, items: [{ id: 7 }] } });
  });

  it('c-structured-and-same-text-once: shows an echo once', async () => {
    const text = await textOf(inputOf('c-structured-and-same-text-once').result);
    expect(text.match(/total/g)).toHaveLength(1);
  });

  it('c-structured-beside-summary: shows both', async () => {
    const text = await textOf(inputOf('c-structured-beside-summary').result);
    for (const piece of ['Found 2 invoices.', 'R-1', 'R-2']) expect(text).toContain(piece);
  });

  it('c-is-error-is-for-the-model: hands on what the tool says', async () => {
    const outcome = await outcomeOf(inputOf('c-is-error-is-for-the-model').result);
    expect(outcome.status).toBe('failed');
    expect(outcomeText(outcome)).toBe('Order 17 not found. Known orders: 15, 16.');
  });

  it('c-empty-result-is-not-an-error: says that nothing came', async () => {
    for (const { result } of inputOf('c-empty-result-is-not-an-error').rows ?? []) {
      const outcome = await outcomeOf(result);
      expect(outcome.status).toBe('done');
      expect(outcomeText(outcome).trim()).not.toBe('');
    }
  });

  it('c-image-block-becomes-image: puts a file in the place of the bytes', async () => {
    const outcome = await outcomeOf(inputOf('c-image-block-becomes-image').result);
    expect(outcome).toMatchObject({ attachments: [{ mime: 'image/png', size: 70 }] });
    const text = outcomeText(outcome);
    expect(text).not.toContain('iVBOR');
    expect(text.indexOf('chart:')).toBeLessThan(text.indexOf('/shared/attachments/t-'));
  });

  it('c-resource-link-kept: keeps the pointer', async () => {
    const text = await textOf(inputOf('c-resource-link-kept').result);
    for (const piece of ['report ready', 'file:///reports/q3.pdf', 'q3.pdf']) expect(text).toContain(piece);
  });

  it('c-result-missing-content: reads every form', async () => {
    const texts = await Promise.all(
      (inputOf('c-result-missing-content').rows ?? []).map(({ result }) => textOf(result)),
    );
    expect(texts).toEqual([
      '(the tool returned nothing)',
      'old form',
      JSON.stringify({ ok: true }, null, 2),
      'plain string',
      'bare block',
      '(the tool returned nothing)',
    ]);
  });
});

describe('odd members of a result', () => {
  it.each<[unknown, string]>([
    [{ content: [{ type: 'text' }] }, '{"type":"text"}'],
    [{ content: [{ type: 'image', mimeType: 'image/png' }] }, '{"type":"image","mimeType":"image/png"}'],
    [{ content: [{ type: 'resource' }] }, '{"type":"resource"}'],
    [{ content: [7, null, 'text'] }, '7\nnull\ntext'],
    [{ content: [{ type: 'hologram', data: 1 }] }, '[hologram content block]'],
    [{ answer: 42 }, '{"answer":42}'],
    [['a', { type: 'text', text: 'b' }], 'a\nb'],
    [{ type: 'text', text: 'a block as result' }, 'a block as result'],
    [{ toolResult: 'old text' }, 'old text'],
  ])('%j reads as %j', async (raw, text) => {
    expect(await textOf(raw)).toBe(text);
  });

  it('keeps members that nobody knows, and drops the meta of one hop', async () => {
    const block = { type: 'text', text: 'a', annotations: { audience: ['user'] }, 'x-new': 1 };
    const raw = {
      content: [block],
      _meta: { 'io.modelcontextprotocol/serverInfo': {}, progressToken: 1, 'example.com/id': 'k' },
    };
    const outcome = await outcomeOf(raw);
    expect(outcome).toMatchObject({ status: 'done', meta: { 'example.com/id': 'k' } });
    expect(outcome.status === 'done' && outcome.parts[0]).toBe(block);
  });

  it('ends a call whose result is of an unknown kind with an explanation', async () => {
    const outcome = await outcomeOf({ resultType: 'brand-new' });
    expect(outcome.status).toBe('failed');
    expect(outcomeText(outcome)).toMatch(/unknown kind "brand-new"/);
  });
});

describe('bytes in a result', () => {
  const pixel = { type: 'image', mimeType: 'image/webp', data: 'AAAA' };
  const blob = (uri: string, mimeType?: string) => ({ type: 'resource', resource: { uri, mimeType, blob: 'AAAA' } });

  it.each([
    ['model', false, true],
    ['client', false, false],
    ['client', true, true],
    ['passthrough', true, false],
  ] as const)('for a %s (sharing the folder: %s) are saved: %s', async (caller, sharesFolder, isSaved) => {
    const outcome = await outcomeOf({ content: [pixel] }, { caller, sharesFolder });
    expect(outcome.status === 'done' && outcome.parts[0]?.type).toBe(isSaved ? 'text' : 'image');
  });

  it.each([
    [blob('docs://files/report.pdf', 'application/pdf'), 'report.pdf'],
    [blob('docs://files/r%C3%A9sum%C3%A9', 'text/csv; charset=utf-8'), 'résumé.csv'],
    [blob('docs://files/%zz?x=1'), '%zz.bin'],
    [blob('mem://'), 't-resource.bin'],
    [pixel, expect.stringMatching(/^t-[0-9a-f]{8}\.webp$/) as string],
  ])('%j get a name', async (part, name) => {
    saved.length = 0;
    await outcomeOf({ content: [part] });
    expect(saved).toEqual([{ name, size: 3 }]);
  });

  it('that cannot be saved stay as they are, and the call goes on', async () => {
    const content = [blob('x://full.bin'), { type: 'text', text: 'rest' }];
    expect(await outcomeOf({ content })).toEqual(await outcomeOf({ content }, { caller: 'passthrough' }));
  });
});

describe('capturing', () => {
  const content = [{ type: 'image', mimeType: 'image/png', data: 'AAEC' }];
  const rules = [{ tools: ['t'], contentField: 'content' }];
  const payload = { content: 'AAEC', size: 3 };
  const echoed = { content: [{ type: 'text', text: JSON.stringify(payload) }], structuredContent: payload };

  it('leaves an error result and an empty one as they are, and all when it is switched off', async () => {
    saved.length = 0;
    expect(await outcomeOf({ isError: true, content })).toMatchObject({
      failure: { reported: { parts: content } },
    });
    expect(await outcomeOf({ content: [] })).toEqual({ status: 'done', parts: [] });
    const call = { server: 's', tool: 't', context: { caller: 'model' as const } };
    expect(await map({ content }, { ...call, attachments: { capture: { enabled: false, rules } } })).toEqual({
      status: 'done',
      parts: content,
    });
    expect(saved).toEqual([]);
  });

  it('takes the bytes out of a structured copy for a model, and leaves it whole for programs', async () => {
    const call = { server: 's', tool: 't', attachments: { capture: { rules } } };
    const forModel = await map(echoed, { ...call, context: { caller: 'model' } });
    expect(outcomeText(forModel)).not.toContain('AAEC');
    expect(forModel).toMatchObject({ structured: { size: 3, mime: 'application/octet-stream' } });
    const forClient = await map(echoed, { ...call, context: { caller: 'client', sharesFolder: true } });
    expect(forClient).toMatchObject({ structured: payload, attachments: [{ size: 3 }] });
    const forOperator = await map(echoed, { ...call, context: { caller: 'operator' } });
    expect(forOperator).toMatchObject({ structured: payload, parts: echoed.content, attachments: [{ size: 3 }] });
  });

  it('gives way to a call that receives a file, unless the tool reports an error', async () => {
    const receive = async (): Promise<Outcome> => ({ status: 'done', parts: [{ type: 'text', text: 'received' }] });
    const call = { server: 's', tool: 't', context: { caller: 'model' as const }, receive };
    expect(outcomeText(await map({ content }, call))).toBe('received');
    const failed = { isError: true, content: [{ type: 'text', text: 'No such mail.' }] };
    expect(outcomeText(await map(failed, call))).toBe('No such mail.');
  });
});
