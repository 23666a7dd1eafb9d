import { describe, expect, it } from 'vitest';
import type { CallContext } from '../../../tool/context.ts';
import type { EmbeddingModel } from '../../../tool/embedding-model.ts';
import type { OpenTools } from '../__fixtures__/open-tools.ts';
import { openTools, tool } from '../__fixtures__/open-tools.ts';

// A model that knows three things in the world, by words that share nothing with the queries.
const things: readonly (readonly string[])[] = [
  ['qorvex', 'shiny surface'],
  ['blimtan', 'cold drink'],
  ['drusk', 'paper boat'],
];
const toVector = (text: string): Float32Array =>
  Float32Array.from([0.1, ...things.map((words) => words.filter((word) => text.toLowerCase().includes(word)).length)]);

interface FakeModel extends EmbeddingModel {
  /** Everything that was sent, in order. */
  readonly sent: string[];
  /** What the next requests do instead of answering. */
  behaves: 'well' | 'fails' | 'hangs';
}
const fakeModel = (id = 'fake'): FakeModel => {
  const model: FakeModel = {
    id,
    sent: [],
    behaves: 'well',
    embed: async (texts) => {
      model.sent.push(...texts);
      if (model.behaves === 'fails') throw new Error('no such model');
      if (model.behaves === 'hangs') return await new Promise(() => {});
      return texts.map(toVector);
    },
  };
  return model;
};

const run: CallContext = { caller: 'operator' };
const tools = [
  tool('polish', { description: 'Applies qorvex.' }),
  tool('pour', { description: 'Serves blimtan.' }),
  tool('fold', { description: 'Makes a drusk.' }),
];
const find = async (world: OpenTools, query: string, context = run): Promise<string[]> =>
  (await world.mcp.search.find('tool', query, 10, context)).map(({ entry }) => entry.name);
/** Waits until the tools have been read: they are in the background. */
const untilFound = async (world: OpenTools, query: string, name: string): Promise<void> => {
  while (!(await find(world, query)).includes(name)) await world.clock.advance(0);
};

describe('a search with an embedding model', () => {
  it('finds what words do not, and by words what has not been read yet', async () => {
    const embedding = fakeModel();
    await using world = await openTools({ embedding });
    await world.connect({ s: { tools } });
    await untilFound(world, 'shiny surface', 'polish');
    expect(await find(world, 'a cold drink')).toEqual(['pour']);
    embedding.behaves = 'hangs';
    await world.connect({ s: { tools: [...tools, tool('drink_cold_water')] } });
    expect(await find(world, 'a cold drink')).toEqual(['drink_cold_water', 'pour']);
  });

  it('puts an exact name first, whatever it means', async () => {
    await using world = await openTools({ embedding: fakeModel() });
    await world.connect({ s: { tools: [...tools, tool('shiny surface')] } });
    await untilFound(world, 'make it a shiny surface', 'polish');
    expect((await find(world, 'Shiny Surface'))[0]).toBe('shiny surface');
    expect((await find(world, 's__FOLD'))[0]).toBe('fold');
  });

  it('shows a caller nothing that it may not have', async () => {
    await using world = await openTools({
      embedding: fakeModel(),
      exposes: ({ source }, { caller }) => caller === 'operator' || source !== 'mcp:secret',
    });
    await world.connect({ secret: { tools }, s: { tools: [tool('other')] } });
    await untilFound(world, 'shiny surface', 'polish');
    expect(await find(world, 'shiny surface', { caller: 'client' })).toEqual([]);
  });

  it('asks the model for a query once, for tools and prompts and the next time', async () => {
    const embedding = fakeModel();
    await using world = await openTools({ embedding });
    await world.connect({ s: { tools } });
    await untilFound(world, 'paper boat', 'fold');
    await world.call('mcp_find_tools', { query: 'paper boat' }, run);
    expect(embedding.sent.filter((text) => text === 'paper boat')).toHaveLength(1);
  });
});

describe('what a model has read', () => {
  const toolTexts = (model: FakeModel): string[] => model.sent.filter((text) => text.startsWith('s: '));

  it('is read again only where a tool changed, and forgotten where it went', async () => {
    const embedding = fakeModel();
    await using world = await openTools({ embedding });
    await world.connect({ s: { tools } });
    await untilFound(world, 'shiny surface', 'polish');
    expect(toolTexts(embedding)).toHaveLength(3);
    const [polish, pour] = tools as [(typeof tools)[0], (typeof tools)[0]];
    await world.connect({ s: { tools: [polish, { ...pour, description: 'Applies qorvex, too.' }] } });
    await untilFound(world, 'shiny surface', 'pour');
    expect(toolTexts(embedding)).toHaveLength(4);
    expect(await find(world, 'paper boat')).not.toContain('fold');
  });

  it('is there after a restart, for the same model only', async () => {
    await using first = await openTools({ embedding: fakeModel() });
    await first.connect({ s: { tools } });
    await untilFound(first, 'shiny surface', 'polish');

    const again = fakeModel();
    await using second = await openTools({ embedding: again, store: first.store });
    await second.connect({ s: { tools } });
    await untilFound(second, 'shiny surface', 'polish');
    expect(again.sent).toEqual(['shiny surface']);

    const other = fakeModel('another');
    await using third = await openTools({ embedding: other, store: first.store });
    await third.connect({ s: { tools } });
    await untilFound(third, 'shiny surface', 'polish');
    expect(toolTexts(other)).toHaveLength(3);
  });

  it('reads many tools in parts', async () => {
    const sizes: number[] = [];
    const model = fakeModel();
    const embedding: EmbeddingModel = {
      id: 'fake',
      embed: (texts, signal) => {
        sizes.push(texts.length);
        return model.embed(texts, signal);
      },
    };
    await using world = await openTools({ embedding });
    const many = Array.from({ length: 70 }, (_, at) => tool(`t${at}`));
    await world.connect({ s: { tools: [...many, ...tools] } });
    await untilFound(world, 'paper boat', 'fold');
    while (sizes.reduce((sum, size) => sum + size, 0) < 73) await world.clock.advance(0);
    expect(Math.max(...sizes)).toBeLessThanOrEqual(32);
  });
});

describe('a model that fails', () => {
  it('is left alone for a while, longer each time, and searching goes on by words', async () => {
    const embedding = fakeModel();
    embedding.behaves = 'fails';
    await using world = await openTools({ embedding });
    await world.connect({ s: { tools } });
    while (world.warnings.length === 0) await world.clock.advance(0);
    expect(await find(world, 'pour')).toEqual(['pour']);
    expect(embedding.sent).toHaveLength(3);
    await world.clock.advance(29_999);
    expect(embedding.sent).toHaveLength(3);
    await world.clock.advance(1);
    while (world.warnings.length === 1) await world.clock.advance(0);
    await world.clock.advance(30_000);
    expect(embedding.sent).toHaveLength(6);
    embedding.behaves = 'well';
    await world.clock.advance(30_000);
    await untilFound(world, 'shiny surface', 'polish');
    expect(world.warnings.filter((warning) => warning.includes('by words alone'))).toHaveLength(2);
  });

  it('or answers too late costs a search two seconds, once', async () => {
    const embedding = fakeModel();
    await using world = await openTools({ embedding });
    await world.connect({ s: { tools } });
    await untilFound(world, 'shiny surface', 'polish');
    embedding.behaves = 'hangs';
    const searching = find(world, 'polish something');
    await world.clock.advance(2_000);
    expect(await searching).toEqual(['polish']);
    expect(await find(world, 'polish something else')).toEqual(['polish']);
  });

  it.each<[string, EmbeddingModel['embed']]>([
    ['gives too few vectors', async () => []],
    ['gives vectors without a direction', async (texts) => texts.map(() => new Float32Array(4))],
  ])('because it %s changes nothing', async (_what, embed) => {
    await using world = await openTools({ embedding: { id: 'odd', embed } });
    await world.connect({ s: { tools } });
    while (world.warnings.length === 0) await world.clock.advance(0);
    expect(await find(world, 'pour')).toEqual(['pour']);
  });

  it('does not hold up the stop', async () => {
    const embedding = fakeModel();
    embedding.behaves = 'hangs';
    const world = await openTools({ embedding });
    await world.connect({ s: { tools } });
    while (embedding.sent.length === 0) await world.clock.advance(0);
    await world[Symbol.asyncDispose]();
    expect(world.clock.pendingTimers).toBe(0);
  });
});
