import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import type { CallContext } from '../tool/context.ts';
import { createOpaqueIds } from '../tool/opaque-ids.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import type { Outcome } from '../tool/outcome.ts';
import { createToolsets } from '../toolset/toolset.ts';
import { silentLog } from '../kernel/log.ts';
import { createVolume } from '../volume/volume.ts';
import type { ModelsSettings } from './models/model-settings.ts';
import { createTierModels } from './models/tier-models.ts';
import { viewFileTool } from './view-file.ts';

const maxBytes = 1000;
const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const tier = (supportsImageInput: boolean) => ({
  provider: 'openai-compatible' as const,
  endpoint: 'http://127.0.0.1:9/v1',
  modelId: 'm',
  supportsImageInput,
});
const heads = {
  png: Buffer.from('89504e470d0a1a0a', 'hex'),
  jpg: Buffer.from('ffd8ffe0', 'hex'),
  gif: Buffer.from('GIF89a'),
  webp: Buffer.from('RIFF\0\0\0\0WEBP'),
};
let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-view-'));
  for (const [extension, head] of Object.entries(heads)) await writeFile(join(folder, `a.${extension}`), head);
});
afterEach(() => rm(folder, { recursive: true }));

const make = (models: ModelsSettings = { balanced: tier(true) }, types: readonly string[] = pictures) =>
  viewFileTool({ models: createTierModels({ models, env: {} }), volume: createVolume(folder), maxBytes, types });
const seeing: CallContext = {
  caller: 'model',
  takesContextItems: true,
  model: { provider: 'openai', capabilities: { sees_images: true } },
};
const view = (
  paths: readonly string[],
  more: Partial<CallContext> = {},
  types?: readonly string[],
): Promise<Outcome> => {
  const tool = make(undefined, types);
  if (!tool) throw new Error('no tier sees');
  return makeInvoker(registryOf(tool)).invoke({ name: 'view_file', arguments: { paths } }, { ...seeing, ...more });
};

describe('view_file', () => {
  it('is there when some tier sees, and pictures may be sent', () => {
    expect(make({ balanced: tier(false) })).toBeUndefined();
    expect(make({ high: tier(true), balanced: tier(false) })).toBeDefined();
    expect(make(undefined, ['application/pdf'])).toBeUndefined();
  });

  it.each<[string, Partial<CallContext>, boolean]>([
    ['a loop whose model sees', {}, true],
    ['a loop whose model is blind', { model: { provider: 'openai', capabilities: { sees_images: false } } }, false],
    ['a caller who does not take what it gives', { takesContextItems: undefined }, false],
    ['an operator', { caller: 'operator', takesContextItems: undefined, model: undefined }, false],
  ])('belongs to %s', (_who, more, expected) => {
    const toolsets = createToolsets({ registry: registryOf(make()!), log: silentLog });
    const context = { ...seeing, ...more };
    expect(toolsets.for(context).tools.length > 0).toBe(expected);
    expect(toolsets.find('view_file', context) !== undefined).toBe(expected);
  });

  it('names pictures for the context, each once, by path or by the id of the turn, and holds no bytes', async () => {
    const ids = createOpaqueIds();
    const id = ids.issue('media', 'a.png');
    const outcome = await view([id, 'a.png', join(folder, 'a.jpg'), 'a.gif', 'a.webp'].slice(0, 4), { ids });
    expect(outcome).toEqual({
      status: 'done',
      parts: [
        {
          type: 'text',
          text: `Put before the model: \`a.png\` (image/png, 8 bytes), \`${join(folder, 'a.jpg')}\` (image/jpeg, 4 bytes), \`a.gif\` (image/gif, 6 bytes).`,
        },
      ],
      contextItem: {
        text: 'The pictures that you asked to see.',
        media: [
          { path: 'a.png', mediaType: 'image/png' },
          { path: join(folder, 'a.jpg'), mediaType: 'image/jpeg' },
          { path: 'a.gif', mediaType: 'image/gif' },
        ],
      },
    });
    expect(await view(['a.webp'])).toMatchObject({ contextItem: { text: 'The picture that you asked to see.' } });
  });

  it.each([
    ['../a.png', 'without ".."'],
    ['/etc/passwd.png', 'outside'],
    ['nope.png', 'does not exist'],
    ['link.png', 'leads through a link'],
    ['a.svg', 'view_file does not take (.svg). It takes .png, .jpg, .jpeg, .gif, .webp'],
    ['a.pdf', 'application/pdf'],
    ['page.png', '"page.png" holds no picture that models take, although it is called image/png'],
    ['photo.png', '"photo.png" is called image/png and holds image/jpeg'],
    ['empty.png', 'holds no picture'],
    ['big.png', '1001 bytes'],
    ['media_7', 'no extension'],
  ])('refuses %s', async (path, part) => {
    await writeFile(join(folder, 'a.svg'), '<svg/>');
    await writeFile(join(folder, 'a.pdf'), '%PDF-1.7');
    await writeFile(join(folder, 'page.png'), '<html>');
    await writeFile(join(folder, 'photo.png'), heads.jpg);
    await writeFile(join(folder, 'empty.png'), '');
    await writeFile(join(folder, 'big.png'), Buffer.concat([heads.png, Buffer.alloc(993)]));
    await writeFile(join(folder, 'media_7'), heads.png);
    await symlink(join(folder, 'a.png'), join(folder, 'link.png'));
    const outcome = await view([path]);
    expect(outcome.status).toBe('failed');
    expect(outcomeText(outcome)).toContain(part);
  });

  it('takes no more together than one may have, and four at most', async () => {
    const large = Buffer.concat([heads.png, Buffer.alloc(592)]);
    await writeFile(join(folder, 'b.png'), large);
    await writeFile(join(folder, 'c.png'), large);
    expect(outcomeText(await view(['b.png', 'c.png']))).toContain('1200 bytes together ("b.png" 600, "c.png" 600)');
    expect((await view(['b.png'])).status).toBe('done');
    expect((await view(['a.png', 'a.jpg', 'a.gif', 'a.webp', 'b.png'])).status).toBe('failed');
    expect((await view([])).status).toBe('failed');
  });

  it('takes only what may be sent at all', async () => {
    expect(outcomeText(await view(['a.gif'], {}, ['image/png', 'application/pdf']))).toContain('It takes .png.');
  });
});
