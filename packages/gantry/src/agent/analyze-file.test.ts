import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeInvoker, registryOf } from '../testing/make-invoker.ts';
import type { Tier } from '../tool/context.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import { createVolume } from '../volume/volume.ts';
import { analyzeFileTool } from './analyze-file.ts';
import type { ModelsSettings } from './models/model-settings.ts';
import { createTierModels } from './models/tier-models.ts';

const maxBytes = 8 * 1024 * 1024;
const types = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const tier = (supportsImageInput: boolean) => ({
  provider: 'openai-compatible' as const,
  endpoint: 'http://127.0.0.1:9/v1',
  modelId: 'm',
  supportsImageInput,
});
let folder: string;
let looked: { tier: Tier; prompt: string; bytes: number; mediaType: string }[];
let answer: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'gantry-look-'));
  looked = [];
  answer = 'Three boxes.';
  await writeFile(join(folder, 'plan.png'), Buffer.alloc(10));
});
afterEach(() => rm(folder, { recursive: true }));

const make = (models: ModelsSettings) =>
  analyzeFileTool({
    models: createTierModels({ models, env: {} }),
    model: {
      look: async ({ tier: wanted, prompt, files }) => {
        const [file] = files;
        looked.push({ tier: wanted, prompt, bytes: file?.data.length ?? 0, mediaType: file?.mediaType ?? '' });
        return answer;
      },
    },
    volume: createVolume(folder),
    maxBytes,
    types,
  });
const call = async (args: object, models: ModelsSettings = { balanced: tier(true) }): Promise<string> => {
  const tool = make(models);
  if (!tool) throw new Error('no tier sees');
  const outcome = await makeInvoker(registryOf(tool)).invoke(
    { name: 'analyze_file', arguments: JSON.stringify(args) },
    { caller: 'model' },
  );
  return outcomeText(outcome);
};

describe('analyze_file', () => {
  it('is not there when no tier can see', () => {
    expect(make({ balanced: tier(false) })).toBeUndefined();
    expect(make({})).toBeUndefined();
    expect(make({ high: tier(true), balanced: tier(false) })).toBeDefined();
  });

  it('puts the file before the model and gives its words', async () => {
    expect(await call({ path: 'plan.png', prompt: 'What is it?' })).toBe('Three boxes.');
    expect(looked).toEqual([{ tier: 'balanced', prompt: 'What is it?', bytes: 10, mediaType: 'image/png' }]);
    await call({ path: join(folder, 'plan.png'), prompt: 'x' });
    expect(looked).toHaveLength(2);
  });

  it.each([
    [undefined, { balanced: tier(true), high: tier(true) }, 'balanced'],
    ['high', { balanced: tier(true), high: tier(true) }, 'high'],
    ['enormous', { balanced: tier(true), high: tier(true) }, 'balanced'],
    ['low', { low: tier(false), balanced: tier(true), high: tier(true) }, 'high'],
    ['high', { low: tier(true), balanced: tier(false), high: tier(false) }, 'low'],
  ] as const)('of tier %s goes to one that can see', async (wanted, models, used) => {
    await call({ path: 'plan.png', prompt: 'x', ...(wanted && { tier: wanted }) }, models);
    expect(looked[0]?.tier).toBe(used);
  });

  it('takes extensions in any case', async () => {
    await writeFile(join(folder, 'A.JPEG'), 'x');
    await call({ path: 'A.JPEG', prompt: 'x' });
    expect(looked[0]?.mediaType).toBe('image/jpeg');
  });

  it.each([
    ['../x.png', 'without ".."'],
    ['/etc/passwd.png', 'outside'],
    ['nope.png', 'nope.png'],
    ['link.png', 'link.png'],
    ['a.svg', '.png, .jpg, .jpeg, .gif, .webp'],
    ['a.pdf', 'application/pdf'],
    ['big.png', '8388609 bytes'],
  ])('refuses %s', async (path, part) => {
    await writeFile(join(folder, 'a.svg'), 'x');
    await writeFile(join(folder, 'a.pdf'), 'x');
    await writeFile(join(folder, 'big.png'), Buffer.alloc(maxBytes + 1));
    await symlink('/etc/hostname', join(folder, 'link.png'));
    const text = await call({ path, prompt: 'x' });
    expect(looked).toEqual([]);
    expect(text).toContain(part);
  });

  it('fails when the model says nothing, and wants a path and a prompt', async () => {
    answer = ' ';
    expect(await call({ path: 'plan.png', prompt: 'x' })).toContain('said nothing');
    expect(await call({ path: 'plan.png' })).toContain('"prompt" is missing');
  });
});
