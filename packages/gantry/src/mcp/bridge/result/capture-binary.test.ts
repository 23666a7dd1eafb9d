import { beforeEach, describe, expect, it } from 'vitest';
import { silentLog } from '../../../kernel/log.ts';
import type { Part } from '../../../tool/outcome.ts';
import type { Volume } from '../../../volume/volume.ts';
import type { CaptureRule } from '../config/attachments-entry.ts';
import type { Captured } from './capture-binary.ts';
import { captureBinary } from './capture-binary.ts';

let saved: { name: string; bytes: Uint8Array }[];
beforeEach(() => (saved = []));
const volume: Pick<Volume, 'saveNew'> = {
  saveNew: async (folder, name, bytes) => {
    if (name === 'full.png') throw new Error('no space left');
    saved.push({ name, bytes });
    return { path: `/shared/${folder}/${name}`, name, size: bytes.byteLength };
  },
};

const rule: CaptureRule = {
  tools: ['Get_File'],
  contentField: 'content',
  nameField: 'file',
  encodingField: 'encoding',
};
const capture = (parts: readonly Part[], { tool = 'get_file', rules = [rule] } = {}): Promise<Captured | undefined> =>
  captureBinary({ parts, structured: { kept: true } }, { volume, tool, rules, log: silentLog });
const json = (value: unknown): Part => ({ type: 'text', text: JSON.stringify(value) });
const members = (captured: Captured | undefined, index = 0): Record<string, unknown> => {
  const part = captured?.report.parts[index];
  return JSON.parse(part?.type === 'text' ? part.text : 'null') as Record<string, unknown>;
};

const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 1]);
const base64 = png.toString('base64');
const prose = Buffer.from('Read me. Ü').toString('base64');

describe('blocks that hold bytes', () => {
  it.each([
    ['image', 'image/png', 'draw_a.chart', /^draw-a-chart-[0-9a-f]{8}\.png$/],
    ['audio', 'audio/mpeg', '--say--', /^say-[0-9a-f]{8}\.mp3$/],
    ['audio', 'audio/x-odd', '写', /^capture-[0-9a-f]{8}\.bin$/],
  ] as const)('(%s %s of %s) become files with their bytes', async (type, mimeType, tool, name) => {
    const before: Part = { type: 'text', text: 'before' };
    const captured = await capture([before, { type, mimeType, data: base64 }, { type: 'text', text: 'after' }], {
      tool,
    });
    expect(captured?.report.parts[0]).toBe(before);
    expect(captured?.report.parts[2]).toEqual({ type: 'text', text: 'after' });
    const [file] = saved;
    expect(file?.name).toMatch(name);
    expect(Buffer.from(file?.bytes ?? []).equals(png)).toBe(true);
    expect(members(captured, 1)).toEqual({
      path: `/shared/attachments/${file?.name}`,
      name: file?.name,
      size: 10,
      mime: mimeType,
      note: expect.stringContaining('shared volume') as string,
    });
    expect(captured?.report.structured).toEqual({ kept: true });
  });

  it('tell where a resource came from', async () => {
    const resource = { uri: 'mail://1/report.pdf', mimeType: 'application/pdf', blob: base64 };
    const captured = await capture([{ type: 'resource', resource }]);
    expect(members(captured)).toMatchObject({ uri: 'mail://1/report.pdf', name: 'report.pdf', size: 10 });
  });

  it('stay when they are no base64, and the others are captured', async () => {
    const odd: Part = { type: 'image', mimeType: 'image/png', data: '!' };
    const captured = await capture([odd, { type: 'image', mimeType: 'image/png', data: base64 }]);
    expect(captured?.report.parts[0]).toBe(odd);
    expect(captured?.attachments).toHaveLength(1);
  });
});

describe('bytes inside JSON text', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    [
      'a picture',
      { file: 'a.png', sha: 'f00', path: 'dir/a.png' },
      { name: 'a.png', sha: 'f00', path: '/shared/attachments/a.png', mime: 'image/png' },
    ],
    ['a picture under another name', { name: 'b.PNG' }, { name: 'b.PNG', mime: 'image/png' }],
    [
      'the last part of a path',
      { path: 'dir/c.docx' },
      { name: 'c.docx', mime: expect.stringContaining('wordprocessingml') },
    ],
    ['an encoding that says so', { file: 'a.zip', encoding: 'BASE64' }, { name: 'a.zip', mime: 'application/zip' }],
    ['no name, by its bytes', { sha: 'f00' }, { sha: 'f00', mime: 'application/octet-stream' }],
    ['an unknown extension, by its bytes', { file: 'a.xyz' }, { name: 'a.xyz' }],
  ])('with %s become a file', async (_what, given, wanted) => {
    const captured = await capture([json({ content: base64, ...given })]);
    expect(members(captured)).toMatchObject({ ...wanted, size: 10, note: expect.stringContaining('saved') as string });
    expect(members(captured)).not.toHaveProperty('content');
    expect(saved).toHaveLength(1);
  });

  it.each<[string, unknown]>([
    ['a README', { file: 'README.md', content: prose }],
    ['a picture made of text', { file: 'a.svg', content: base64 }],
    ['prose without a name', { content: prose }],
    ['another encoding', { content: base64, encoding: 'utf-8' }],
    ['base64 that is broken', { file: 'a.png', content: `${base64}!` }],
    ['base64 that is cut off', { file: 'a.png', content: base64.slice(1) }],
    ['no content', { file: 'a.png' }],
    ['empty content', { file: 'a.png', content: '' }],
    ['content that is no text', { file: 'a.png', content: [base64] }],
    ['a list', [{ content: base64 }]],
    ['three lost characters', { content: `${'\ufffd'.repeat(3)}${'x'.repeat(2_000)}` }],
    ['a short text of lost characters', { content: '\ufffd'.repeat(1_023) }],
    ['a file that cannot be saved', { file: 'full.png', content: base64 }],
  ])('stay with %s', async (_what, value) => {
    expect(await capture([json(value)])).toBeUndefined();
    expect(saved).toEqual([]);
  });

  it('stay where no rule speaks of the tool', async () => {
    expect(await capture([json({ file: 'a.png', content: base64 })], { tool: 'other' })).toBeUndefined();
    expect(await capture([json({ file: 'a.png', content: base64 })], { rules: [] })).toBeUndefined();
  });

  it('are what the first rule for the tool says, in the first text that holds some', async () => {
    const rules = [rule, { tools: ['get_file'], contentField: 'other' }];
    const parts = [json({ other: base64 }), json({ Content: base64 }), json({ content: base64 })];
    const captured = await capture(parts, { rules });
    expect(captured?.report.parts[0]).toBe(parts[0]);
    expect(members(captured, 1)).toHaveProperty('size', 10);
    expect(captured?.report.parts[2]).toBe(parts[2]);
  });

  it('have the type that a field says rather than that of the name', async () => {
    const rules = [{ ...rule, mimeField: 'type' }];
    const asText = { file: 'a.png', type: 'text/plain', content: base64 };
    expect(await capture([json(asText)], { rules })).toBeUndefined();
    const captured = await capture([json({ file: 'a.txt', type: 'image/png', content: base64 })], { rules });
    expect(members(captured)).toMatchObject({ name: 'a.txt', mime: 'image/png' });
  });

  it('that were decoded as text are left out and told to be lost', async () => {
    const content = `${'\ufffd'.repeat(40)}${'x'.repeat(2_008)}`;
    const captured = await capture([json({ file: 'a.png', sha: 'f00', content })]);
    expect(members(captured)).toEqual({
      file: 'a.png',
      sha: 'f00',
      note: expect.stringMatching(/2048 characters.*unrecoverable.*another route/s) as string,
    });
    expect(captured?.attachments).toEqual([]);
    expect(saved).toEqual([]);
  });

  it('may be broken into lines', async () => {
    const captured = await capture([json({ file: 'a.png', content: `${base64.slice(0, 8)}\n${base64.slice(8)}\n` })]);
    expect(captured?.attachments).toMatchObject([{ size: 10 }]);
  });
});
