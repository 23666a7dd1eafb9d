import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GantryError } from '../../kernel/errors.ts';
import type { WispLab } from './__fixtures__/wisp-lab.ts';
import { mcp, openWispLab, typed, wisp } from './__fixtures__/wisp-lab.ts';

let lab: WispLab;
beforeEach(async () => {
  lab = await openWispLab();
});
afterEach(() => lab[Symbol.asyncDispose]());

describe('tools of servers', () => {
  it.each([
    ['the typed name', { tool: 'notes__add' }, 'notes__add'],
    ['server and name', { server: 'notes', tool: 'add' }, 'notes__add'],
    ['server and name in another case', { server: 'Notes', tool: 'ADD' }, 'notes__add'],
    ['the typed name with its server', { server: 'NOTES', tool: 'notes__list' }, 'notes__list'],
  ])('are found by %s', async (_, named, name) => {
    await lab.run(wisp(mcp('a', { x: 1 }, named)));
    expect(lab.calls).toMatchObject([{ name, args: { x: 1 } }]);
  });

  it('that a server does not have are told at once, with those that are near', async () => {
    const report = await lab.run(wisp(mcp('a', {}, { server: 'notes', tool: 'lst' })));
    expect(report).toContain('Structural: Server "notes" has no tool "lst" that you can call; did you mean list?');
  });

  it('that are not there yet are waited for', async () => {
    const running = lab.run(wisp(mcp('a', {}, { server: 'late', tool: 'x' })));
    await lab.clock.advance(1_000);
    lab.tools.push(typed('late', 'x'));
    await lab.clock.advance(1_000);
    await running;
    expect(lab.calls).toMatchObject([{ name: 'late__x' }]);
  });

  it('without a typed name are called by name', async () => {
    const running = lab.run(wisp(mcp('a', { y: 2 }, { server: 'idle', tool: 'x' })));
    await lab.clock.advance(6_000);
    await running;
    expect(lab.calls).toMatchObject([
      { name: 'mcp_invoke_tool', args: { server_name: 'idle', tool_name: 'x', arguments: { y: 2 } } },
    ]);
  });

  it('that nobody knows are structural, and servers that have not begun are external', async () => {
    const unknown = lab.run(wisp(mcp('a', {}, { tool: 'nope__x' })));
    await lab.clock.advance(6_000);
    expect(await unknown).toContain('Structural: There is no tool of a server named "nope__x"');
    lab.tools = [];
    const early = lab.run(wisp(mcp('a', {}, { server: 'notes', tool: 'add' })));
    await lab.clock.advance(6_000);
    expect(await early).toContain('External: The tools of servers are not there yet');
  });

  describe('with a schema', () => {
    beforeEach(() => {
      const schema = {
        type: 'object',
        properties: { city: { type: 'string' }, timezone: { type: 'string' } },
        required: ['city', 'timezone'],
        additionalProperties: false,
      };
      lab.tools.push(typed('weather', 'now', schema));
    });
    const weather = (params: object): object => wisp(mcp('a', params, { tool: 'weather__now' }));

    it('get what is known by itself', async () => {
      await lab.run(weather({ city: 'Oslo' }));
      expect(lab.calls[0]?.args).toEqual({ city: 'Oslo', timezone: 'Europe/Oslo' });
      expect(lab.corrections).toEqual([]);
    });

    it('get parameters that a small model put right, once', async () => {
      lab.correct = async () => 'Here: ```json\n{"city": "Oslo", "timezone": "UTC"}\n```';
      await lab.run(weather({ town: 'Oslo' }));
      expect(lab.corrections).toHaveLength(1);
      expect(lab.corrections[0]).toContain('"town"');
      expect(lab.calls[0]?.args).toEqual({ city: 'Oslo', timezone: 'UTC' });
    });

    it.each([
      ['there is no model', async () => Promise.reject(new GantryError('model_missing', 'none'))],
      ['the correction does not fit either', async () => '{"town": "Oslo"}'],
      ['the correction is no JSON', async () => 'I cannot.'],
    ])('are not called when %s', async (_, answer) => {
      lab.correct = answer;
      const report = await lab.run(weather({ town: 'Oslo' }));
      expect(lab.calls).toEqual([]);
      expect(report).toContain('Structural: The parameters do not fit tool "weather__now"');
      expect(report).toContain('Schema: {"type":"object"');
    });
  });
});
