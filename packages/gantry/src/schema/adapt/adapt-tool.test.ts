import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { atPointer } from '../../kernel/json-pointer.ts';
import { isObject, type JsonObject } from '../../kernel/json.ts';
import { eachSubschema, type Schema } from '../subschemas.ts';
import { createSchemaValidator } from '../validate.ts';
import { type AdaptedTool, adaptTool } from './adapt-tool.ts';
import type { Provider } from './provider.ts';

interface Check {
  readonly tool?: string;
  readonly at?: string;
  readonly is?: unknown;
  readonly absentAt?: string[];
  readonly nowhere?: string[];
  readonly everyArrayHas?: string;
  readonly everyObjectHas?: Schema;
  readonly everyTypeIsOneString?: true;
  readonly everySubschemaIsObject?: true;
  readonly everyObjectRequiresAllItsKeys?: true;
  readonly accepts?: unknown[];
  readonly rejects?: unknown[];
  readonly descriptionMentions?: string[];
  readonly anyOfChecks?: Check[][];
}
interface SendCase {
  readonly id: string;
  readonly kind: string;
  readonly input: {
    readonly provider: Provider;
    readonly tools: readonly { name: string; description?: string; inputSchema: Schema }[];
    readonly modelCalls?: readonly { name: string; args?: JsonObject }[];
  };
  readonly expect: {
    readonly checks?: Check[];
    readonly serverReceives?: unknown[];
    readonly serverReceivesOneOf?: unknown[];
  };
}

const validator = createSchemaValidator();
const { cases } = JSON.parse(
  readFileSync(new URL('../../../../../test/data/field-cases/a-tool-schemas.json', import.meta.url), 'utf8'),
) as { cases: SendCase[] };

const nodesOf = (schema: Schema): Schema[] => {
  const nodes: Schema[] = [];
  const visit = (node: unknown): void => {
    if (!isObject(node)) return;
    nodes.push(node);
    eachSubschema(node, visit);
  };
  visit(schema);
  return nodes;
};
const isOf = (node: Schema, type: string): boolean => [node['type']].flat().includes(type);
const value = (schema: Schema, pointer: string): unknown => atPointer(schema, `#${pointer}`);

const holds = (check: Check, { inputSchema: schema, description }: AdaptedTool): boolean => {
  const nodes = nodesOf(schema);
  const equal = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
  const subschemas = (node: Schema): unknown[] => {
    const found: unknown[] = [];
    eachSubschema(node, (sub, [keyword]) => keyword !== 'additionalProperties' && found.push(sub));
    return found;
  };
  const texts = [description, ...nodes.map((node) => JSON.stringify(node['description'] ?? ''))]
    .join('\n')
    .toLowerCase();
  return [
    check.at === undefined || equal(value(schema, check.at), check.is),
    (check.absentAt ?? []).every((pointer) => value(schema, pointer) === undefined),
    (check.nowhere ?? []).every((word) => nodes.every((node) => !(word in node))),
    nodes.every((node) => !isOf(node, 'array') || check.everyArrayHas === undefined || check.everyArrayHas in node),
    Object.entries(check.everyObjectHas ?? {}).every(([key, is]) =>
      nodes.every((node) => !isOf(node, 'object') || node[key] === is),
    ),
    !check.everyTypeIsOneString ||
      nodes.every((node) => node['type'] === undefined || typeof node['type'] === 'string'),
    !check.everySubschemaIsObject || nodes.every((node) => subschemas(node).every(isObject)),
    !check.everyObjectRequiresAllItsKeys ||
      nodes.every(
        (node) =>
          !isOf(node, 'object') ||
          equal(Object.keys(node['properties'] as Schema).sort(), [...(node['required'] as string[])].sort()),
      ),
    (check.accepts ?? []).every((args) => validator.validate(schema, args).length === 0),
    (check.rejects ?? []).every((args) => validator.validate(schema, args).length > 0),
    (check.descriptionMentions ?? []).every((word) => texts.includes(word.toLowerCase())),
    check.anyOfChecks === undefined ||
      check.anyOfChecks.some((group) =>
        group.every((one) => holds(one, { inputSchema: schema, description } as AdaptedTool)),
      ),
  ].every(Boolean);
};

describe('adaptTool, field cases', () => {
  it.each(cases.filter((one) => one.kind === 'send-tools'))('$id', ({ input, expect: expected }) => {
    const sent = new Map(input.tools.map((tool) => [tool.name, adaptTool(tool, input.provider)]));
    for (const check of expected.checks ?? [])
      for (const [name, tool] of sent)
        if (check.tool === undefined || check.tool === name) expect([check, holds(check, tool)]).toEqual([check, true]);
    const received = (input.modelCalls ?? []).map((call) => sent.get(call.name)?.restore(call.args ?? {}));
    if (expected.serverReceives) expect(received).toEqual(expected.serverReceives);
    if (expected.serverReceivesOneOf) expect(expected.serverReceivesOneOf).toContainEqual(received[0]);
  });
});

const object = (properties: Schema, more: Schema = {}): Schema => ({ type: 'object', properties, ...more });
const sent = (inputSchema: Schema, provider: Provider): AdaptedTool => adaptTool({ inputSchema }, provider);
const providers: readonly Provider[] = ['openai', 'openai-strict', 'anthropic', 'gemini', 'generic'];

describe('adaptTool', () => {
  it.each(providers)('gives %s an object with properties for a tool without a schema', (provider) => {
    expect(adaptTool({}, provider)).toMatchObject({ description: '', inputSchema: { type: 'object', properties: {} } });
  });

  it.each(providers)('gives %s the same bytes whatever the order of keys', (provider) => {
    const a = sent(
      object({ x: { type: 'string', description: 'd' }, y: { type: 'integer' } }, { required: ['x'] }),
      provider,
    );
    const b = sent(
      {
        required: ['x'],
        properties: { y: { type: 'integer' }, x: { description: 'd', type: 'string' } },
        type: 'object',
      },
      provider,
    );
    expect(JSON.stringify(a)).toBe(JSON.stringify(b));
  });

  const tree = object(
    { root: { $ref: '#/$defs/N' } },
    {
      $defs: {
        N: object(
          {
            v: { type: 'string' },
            kids: { type: 'array', items: { $ref: '#/$defs/N' } },
            up: { allOf: [{ $ref: '#/$defs/N' }] },
          },
          { required: ['v'] },
        ),
      },
    },
  );
  const doubling = Object.fromEntries(
    Array.from({ length: 300 }, (_, n) => [
      `a${n}`,
      object({ x: { $ref: `#/$defs/a${n + 1}` }, y: { $ref: `#/$defs/a${n + 1}` } }),
    ]),
  );
  it.each(providers)('ends for %s on a schema that contains itself or doubles', (provider) => {
    const { inputSchema } = sent(tree, provider);
    expect(validator.validate(inputSchema, { root: { v: 'a', kids: [{ v: 'b', kids: [{ v: 'c' }] }] } })).toEqual([]);
    const wide = sent(object({ p: { $ref: '#/$defs/a0' } }, { $defs: { ...doubling, a300: {} } }), provider);
    expect(JSON.stringify(wide.inputSchema).length).toBeLessThan(300_000);
    const loop = { anyOf: [{ $ref: '#' }, { $ref: '#' }, object({ a: { $ref: '#' } })] };
    expect(sent(loop, provider).inputSchema['type']).toBe('object');
  });

  it('renames keys that Anthropic refuses, and back', () => {
    const { inputSchema, restore } = sent(
      object(
        { $filter: { type: 'string' }, list: { type: 'array', items: object({ 'a b': {} }) } },
        { required: ['$filter'] },
      ),
      'anthropic',
    );
    const keys = Object.keys(inputSchema['properties'] as Schema);
    expect(keys.every((key) => /^[a-zA-Z0-9_.-]{1,64}$/.test(key))).toBe(true);
    const [renamed] = inputSchema['required'] as string[];
    const items = atPointer(inputSchema, '#/properties/list/items/properties') as Schema;
    expect(restore({ [renamed as string]: 'x', list: [{ [Object.keys(items)[0] as string]: 1 }] })).toEqual({
      $filter: 'x',
      list: [{ 'a b': 1 }],
    });
  });

  it('keeps one reference per definition for providers that take references', () => {
    const { inputSchema } = sent(tree, 'openai');
    expect(inputSchema).toHaveProperty(['$defs', 'N']);
    expect(atPointer(inputSchema, '#/properties/root')).toEqual({ $ref: '#/$defs/N' });
  });

  it.each<[string, Schema]>([
    ['free keys', object({ map: { type: 'object', additionalProperties: { type: 'string' } } })],
    ['values of any type', object({ any: {} })],
    ['a recursion', tree],
  ])('sends a tool with %s to OpenAI without strict', (_, schema) => {
    expect(sent(schema, 'openai-strict')).toMatchObject({
      strict: false,
      inputSchema: sent(schema, 'openai').inputSchema,
    });
  });

  it('takes out only the nulls that strict invited', () => {
    const schema = object(
      {
        a: { type: 'string' },
        b: { type: ['string', 'null'] },
        list: { type: 'array', items: object({ c: { type: 'integer' } }) },
        pick: {
          anyOf: [object({ k: { const: 'x' }, n: { type: 'integer' } }, { required: ['k'] }), { type: 'string' }],
        },
      },
      { required: ['list'] },
    );
    const { strict, restore } = sent(schema, 'openai-strict');
    expect(strict).toBe(true);
    expect(restore({ a: null, b: null, list: [{ c: null }, { c: 1 }], pick: { k: 'x', n: null } })).toEqual({
      b: null,
      list: [{}, { c: 1 }],
      pick: { k: 'x' },
    });
  });

  it.each<[string, Schema, Schema]>([
    ['a constant', { const: 'x' }, { type: 'string', enum: ['x'] }],
    [
      'constants with titles',
      { oneOf: [{ const: 'a', title: 'A' }, { const: 'b' }] },
      { type: 'string', enum: ['a', 'b'] },
    ],
    [
      'a nullable reference',
      { anyOf: [{ $ref: '#/$defs/P' }, { type: 'null' }], description: 'd' },
      { type: 'number', nullable: true, description: 'd' },
    ],
    ['a part in allOf', { allOf: [{ $ref: '#/$defs/P' }], description: 'd' }, { type: 'number', description: 'd' }],
    [
      'a real union',
      { type: ['string', 'number'], description: 'd' },
      { anyOf: [{ type: 'string', description: 'd' }, { type: 'number' }] },
    ],
    ['formats and bounds', { type: 'string', format: 'uri', minLength: 2 }, { type: 'string', minLength: 2 }],
    [
      'a tuple',
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }] },
      { type: 'array', items: { anyOf: [{ type: 'string' }, { type: 'number' }] } },
    ],
    ['an empty text among the values', { enum: ['', 'a'] }, { type: 'string', enum: ['a'] }],
    ['a map', { type: 'object', additionalProperties: { type: 'string' } }, { type: 'object' }],
    ['a fixed flag', { const: true }, { type: 'boolean' }],
  ])('tells Gemini %s', (_, schema, expected) => {
    const { inputSchema } = sent(object({ p: schema }, { $defs: { P: { type: 'number' } } }), 'gemini');
    expect(atPointer(inputSchema, '#/properties/p')).toEqual(expected);
  });

  it('restores values of Gemini in lists and alternatives', () => {
    const level = { enum: [1, 2, null] };
    const { restore } = sent(
      object({ list: { type: 'array', items: level }, either: { anyOf: [level, { type: 'boolean' }] } }),
      'gemini',
    );
    expect(restore({ list: ['1', '2', null, '7'], either: '2' })).toEqual({ list: [1, 2, null, '7'], either: 2 });
    expect(restore({ either: true })).toEqual({ either: true });
  });

  it('keeps the rules of a root that is a reference or consists of parts', () => {
    const parts = {
      allOf: [{ $ref: '#/$defs/A' }, object({ b: { type: 'integer' } }, { required: ['b'] })],
      $defs: { A: object({ a: { type: 'string' } }, { required: ['a'] }) },
    };
    for (const provider of ['openai', 'anthropic', 'gemini'] as const)
      expect(sent(parts, provider).inputSchema).toMatchObject({
        type: 'object',
        properties: { a: { type: 'string' }, b: { type: 'integer' } },
        required: ['a', 'b'],
      });
  });

  it('opens a reference to what merging has removed', () => {
    const { inputSchema } = sent(
      { anyOf: [object({ a: { type: 'string' } }), object({ b: { $ref: '#/anyOf/0' } })] },
      'openai',
    );
    expect(atPointer(inputSchema, '#/properties/b')).toEqual({});
  });
});
