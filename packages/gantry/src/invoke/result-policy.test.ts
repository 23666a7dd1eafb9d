import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { outcomeText } from '../tool/outcome-text.ts';
import type { CallContext } from '../tool/context.ts';
import type { PreparedCall } from '../tool/executor.ts';
import type { Outcome, Part } from '../tool/outcome.ts';
import { failedOutcome, textOutcome } from '../tool/outcome.ts';
import { toRegistration } from '../tool/registration.ts';
import { chunkLongResults } from './result-policy.ts';

const call = (more: object = {}): PreparedCall => ({
  id: 'c1',
  name: 'list_models',
  arguments: {},
  registration: toRegistration({ name: 'list_models', description: 'd', source: 'mcp:x', ...more }),
});
const model: CallContext = { caller: 'model', namespace: 'session/abc' };

const setup = (threshold?: number, keeps = true) => {
  const stored = new Map<string, string>();
  const policy = chunkLongResults({
    stashText: async ({ namespace, key, text }) => {
      if (!keeps) return undefined;
      stored.set(`${namespace}/${key}`, text);
      return `${namespace}/${key}`;
    },
    thresholdFor: threshold === undefined ? undefined : () => threshold,
    newId: () => 'a1b2c3d4e5f6',
  });
  const read = async (outcome: Outcome, context: CallContext = model, prepared = call()): Promise<string> =>
    outcomeText(await policy(outcome, prepared, context));
  return { policy, stored, read };
};
const keysIn = (text: string): string[] => [...text.matchAll(/`([^`]+-chunk\d+)`/g)].map((match) => match[1] as string);

describe('the limit', () => {
  it('lets a result of exactly the threshold through and splits one that is a character longer', async () => {
    const { policy, stored } = setup();
    const fits = textOutcome('x'.repeat(64_000));
    expect(await policy(fits, call(), model)).toBe(fits);
    expect(stored.size).toBe(0);
    await policy(textOutcome('x'.repeat(64_001)), call(), model);
    expect(stored.size).toBeGreaterThan(1);
  });

  it('never makes chunks smaller than 20,000 characters, however low the threshold', async () => {
    const { stored, read } = setup(1000);
    await read(textOutcome('y'.repeat(50_000)));
    expect([...stored].filter(([key]) => key.includes('-chunk')).map(([, text]) => text.length)).toEqual([
      20_000, 20_000, 10_000,
    ]);
  });
});

describe('a result that is split', () => {
  it('comes back as an index whose every key holds its chunk', async () => {
    const { stored, read } = setup(20_000);
    const body = (name: string): string => `${name} `.repeat(2500);
    const text = await read(
      textOutcome(
        `# Models\n\n## Pricing\n${body('p')}\n## Windows\n${body('w')}\n### Limits\n${body('l')}\n`.repeat(1) +
          body('tail').repeat(2),
      ),
    );
    expect(text).toContain("Tool result for 'list_models' is large");
    expect(text).toContain('`session/abc/tool-list_models-a1b2c3d4-index`');
    expect(text).toContain('Call get_from_working_memory(key) for each relevant chunk BEFORE drawing conclusions.');
    expect(keysIn(text).length).toBeGreaterThanOrEqual(3);
    for (const key of keysIn(text)) expect(stored.get(key)).toBeTruthy();
    const outline = stored.get('session/abc/tool-list_models-a1b2c3d4-index') as string;
    expect(outline).toMatch(/^## Document Outline\n/);
    expect(outline).toContain('- **Models**\n  - **Pricing** → `');
    expect(outline).toContain('    - **Limits** → `');
  });

  it('names 60 sections and all of them can be fetched', async () => {
    const { stored, read } = setup();
    const text = await read(
      textOutcome(Array.from({ length: 60 }, (_, index) => `# Section ${index}\n${'z'.repeat(1200)}\n`).join('')),
    );
    expect(keysIn(text)).toHaveLength(60);
    expect(keysIn(text).every((key) => stored.has(key))).toBe(true);
  });

  it('loses nothing of a blob without headings or blank lines', async () => {
    const { stored, read } = setup();
    const blob = JSON.stringify({ rows: Array.from({ length: 10_000 }, (_, index) => ({ k: `é${index}` })) });
    expect(blob.length).toBeGreaterThan(130_000);
    const text = await read(textOutcome(blob));
    expect(
      keysIn(text)
        .map((key) => stored.get(key))
        .join(''),
    ).toBe(blob);
  });

  it('keeps images and links beside the index, and shows a structured value to programs only', async () => {
    const { policy } = setup(20_000);
    const image: Part = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
    const outcome: Outcome = {
      status: 'done',
      parts: [{ type: 'text', text: 'x'.repeat(30_000) }, image],
      structured: { n: 1 },
    };
    expect(await policy(outcome, call(), { caller: 'client' })).toMatchObject({
      parts: [{ type: 'text' }, image],
      structured: { n: 1 },
    });
    expect(await policy(outcome, call(), model)).toMatchObject({
      parts: [{ type: 'text' }, image],
      structured: undefined,
    });
  });

  it('may be what a tool reported as its failure', async () => {
    const { policy } = setup(20_000);
    const failed: Outcome = {
      status: 'failed',
      failure: {
        code: 'execution_failed',
        message: '',
        retry: 'never',
        reported: { parts: [{ type: 'text', text: 'e'.repeat(30_000) }] },
      },
    };
    const outcome = await policy(failed, call(), model);
    expect(outcome).toMatchObject({
      status: 'failed',
      failure: { code: 'execution_failed', message: expect.stringContaining('is large (30000 chars') },
    });
  });
});

describe('where chunks go', () => {
  it('may be the message of a failure that reported nothing', async () => {
    const { policy, stored } = setup(1_000);
    const outcome = await policy(failedOutcome('execution_failed', 'e'.repeat(30_000), 'later'), call(), model);
    expect(outcome).toEqual({
      status: 'failed',
      failure: { code: 'execution_failed', retry: 'later', message: expect.stringContaining('is large (30000 chars') },
    });
    expect([...stored.values()].join('')).toContain('e'.repeat(20_000));
  });

  it('puts those of a client under a name that nobody else can guess', async () => {
    const { stored, read } = setup(20_000);
    await read(textOutcome('x'.repeat(30_000)), { caller: 'client', namespace: 'session/guessable' });
    expect([...stored.keys()].every((key) => key.startsWith('client/a1b2c3d4e5f6/'))).toBe(true);
  });

  it.each<[string, CallContext, boolean]>([
    ['the caller has no session', { caller: 'model' }, true],
    ['nothing can be kept', model, false],
  ])('cuts the result with the right count when %s', async (_what, context, keeps) => {
    const { read } = setup(20_000, keeps);
    expect(await read(textOutcome('x'.repeat(20_123)), context)).toBe(
      `${'x'.repeat(20_000)}\n[result truncated — 123 chars omitted]`,
    );
  });

  it('leaves the result whole for a passed-through server and for an operator', async () => {
    const { policy, stored } = setup(20_000);
    const long = textOutcome('x'.repeat(30_000));
    expect(await policy(long, call(), { caller: 'passthrough' })).toBe(long);
    expect(await policy(long, call(), { caller: 'operator' })).toBe(long);
    expect(stored.size).toBe(0);
  });

  it('never splits again what comes out of working memory', async () => {
    const { policy } = setup(20_000);
    const long = textOutcome('x'.repeat(30_000));
    expect(await policy(long, call({ returnsStored: true }), model)).toBe(long);
  });
});

describe('field cases', () => {
  const cases = JSON.parse(
    readFileSync(new URL('../../../../test/data/field-cases/j-context.json', import.meta.url), 'utf8'),
  ) as { cases: { id: string; input: { limitChars: number } }[] };
  const limitOf = (id: string): number =>
    (cases.cases.find((each) => each.id === id) as { input: { limitChars: number } }).input.limitChars;

  it('j-large-result-is-paged: the notice comes first, says the size, and nothing is lost', async () => {
    const limit = limitOf('j-large-result-is-paged');
    const { stored, read } = setup(limit);
    const whole = 'line of result text 0123456789\n'.repeat(100_000);
    const text = await read(textOutcome(whole));
    expect(text.length).toBeLessThanOrEqual(limit);
    expect(text.slice(0, 200)).toMatch(/3100000[^]*100000/);
    const chunks = [...stored].filter(([key]) => key.includes('-chunk'));
    expect(chunks.length).toBeLessThanOrEqual(200);
    expect(chunks.map(([, chunk]) => chunk).join('')).toBe(whole);
  });

  it('j-one-giant-line: every chunk fits, none begins or ends with half a character', async () => {
    const limit = limitOf('j-one-giant-line');
    const { stored, read } = setup(limit);
    const whole = `{"rows":[${'{"k":"é"},'.repeat(30_000)}{"k":"end"}]}`;
    await read(textOutcome(whole));
    const chunks = [...stored].filter(([key]) => key.includes('-chunk')).map(([, chunk]) => chunk);
    expect(chunks.every((chunk) => chunk.isWellFormed() && chunk.length <= 20_000)).toBe(true);
    expect(chunks.join('')).toBe(whole);
    expect(chunks.at(-1)).toContain('end');
  });
});
