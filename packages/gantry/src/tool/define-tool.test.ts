import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import type { Tool } from './executor.ts';
import type { Outcome } from './outcome.ts';

const run = (tool: Tool, args: Record<string, never> = {}): Promise<Outcome> =>
  tool.executor.execute(
    { id: '1', name: tool.registration.name, arguments: args, registration: tool.registration },
    { caller: 'operator' },
  );

const returning = (value: unknown): Tool => defineTool({ name: 't', description: 'd', execute: () => value as string });

const cyclic: { own?: unknown } = {};
cyclic.own = cyclic;

describe('defining a tool', () => {
  it('says the schema of its arguments as JSON Schema', () => {
    const tool = defineTool({
      name: 'search',
      description: 'Searches.',
      input: z.strictObject({ query: z.string().describe('Words'), limit: z.number().int().default(5) }),
      execute: ({ query }) => query,
    });
    expect(tool.registration).toMatchObject({
      name: 'search',
      source: 'local',
      inputSchema: {
        type: 'object',
        properties: { query: { type: 'string', description: 'Words' } },
        required: ['query'],
        additionalProperties: false,
      },
    });
  });

  it('checks arguments with the schema, which fills in defaults and names faults by path', async () => {
    const tool = defineTool({
      name: 't',
      description: 'd',
      execute: () => '',
      input: z.strictObject({ tags: z.array(z.strictObject({ id: z.number() })), n: z.number().default(3) }),
    });
    expect(await tool.executor.checkArguments?.({ tags: [] })).toEqual({ ok: true, value: { tags: [], n: 3 } });
    expect(await tool.executor.checkArguments?.({ tags: [{ id: 1 }, { id: 'x' }] })).toMatchObject({
      ok: false,
      faults: [{ path: 'tags[1].id' }],
    });
  });

  it('fails plainly when the schema cannot be said in JSON Schema', () => {
    expect(() =>
      defineTool({ name: 'bad', description: 'd', input: z.strictObject({ when: z.date() }), execute: () => '' }),
    ).toThrow(/Tool "bad": its input schema cannot be written as JSON Schema/);
  });
});

describe('what a tool returns', () => {
  it.each<[string, unknown, Partial<Outcome>]>([
    ['a text', 'hi', { status: 'done', parts: [{ type: 'text', text: 'hi' }] }],
    ['nothing', undefined, { status: 'done', parts: [] }],
    ['a JSON value', { rows: [1] }, { status: 'done', parts: [], structured: { rows: [1] } }],
    ['null', null, { status: 'done', parts: [], structured: null }],
    [
      'JSON that has a status of its own',
      { status: 'done', count: 1 },
      { status: 'done', structured: { status: 'done', count: 1 } },
    ],
    [
      'an outcome',
      { status: 'failed', failure: { code: 'execution_failed', message: 'm', retry: 'never' } },
      { status: 'failed' },
    ],
  ])('turns %s into an outcome', async (_what, value, expected) => {
    expect(await run(returning(value))).toMatchObject(expected);
  });

  it.each<[string, unknown, string]>([
    ['a value that contains itself', cyclic, 'a value that contains itself'],
    ['a bigint', { total: 1n }, 'a bigint at "total"'],
    ['a function', () => 'x', 'a function'],
    [
      'a map inside an outcome',
      { status: 'done', parts: [], structured: { found: new Map() } },
      'a value of type Map at "found"',
    ],
  ])('fails the call that returns %s, and says so', async (_what, value, problem) => {
    expect(await run(returning(value))).toMatchObject({
      status: 'failed',
      failure: { code: 'execution_failed', message: expect.stringContaining(`it holds ${problem}.`) },
    });
  });
});
