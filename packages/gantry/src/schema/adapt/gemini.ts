import type { Json } from '../../kernel/json.ts';
import { type KeyRestore, restoreBranch, restoreItems, restoreMembers } from './restore.ts';
import type { Printed, Restore, Shape } from './shape.ts';

/**
 * A shape in Gemini's subset of OpenAPI 3.0: one type per place plus `nullable`, enums of non-empty strings, no references and no `anyOf`
 * beside other keywords. Values that are no strings are offered as text and restored.
 */
export const printGemini = (shape: Shape): Printed => {
  const printed = printKind(shape);
  if (Array.isArray(printed.schema['anyOf']))
    return { ...printed, schema: { anyOf: noteFirst(printed.schema['anyOf'], shape) } };
  return { ...printed, schema: { ...notes(shape), ...printed.schema } };
};

const notes = (shape: Shape): Record<string, unknown> => ({
  ...(shape.description === undefined ? {} : { description: shape.description }),
  ...(shape.nullable ? { nullable: true } : {}),
});

/** Gemini takes no keyword beside `anyOf`, so what is to be said goes into the first branch. */
const noteFirst = (branches: readonly unknown[], shape: Shape): unknown[] =>
  branches.map((branch, index) => (index === 0 ? { ...(branch as object), ...notes(shape) } : branch));

const anything = [
  { type: 'string' },
  { type: 'number' },
  { type: 'boolean' },
  { type: 'object' },
  { type: 'array', items: { type: 'string' } },
];

const printKind = (shape: Shape): Printed => {
  switch (shape.kind) {
    case 'any':
      return { schema: { anyOf: anything } };
    case 'object':
      return printObject(shape.members);
    case 'array': {
      const items = printGemini(shape.items);
      return { schema: { type: 'array', items: items.schema, ...shape.limits }, restore: restoreItems(items.restore) };
    }
    case 'scalar':
      return { schema: { type: shape.type, ...takenLimits(shape.limits) } };
    case 'choice':
      return printChoice(shape.values);
    case 'union': {
      const branches = shape.branches.map((branch) => ({ shape: branch, ...printGemini(branch) }));
      return { schema: { anyOf: branches.map((branch) => branch.schema) }, restore: restoreBranch(branches) };
    }
    default:
      return shape satisfies never;
  }
};

const printObject = (members: Extract<Shape, { kind: 'object' }>['members']): Printed => {
  const keys = new Map<string, KeyRestore>();
  const properties = members.map(({ key, shape }): [string, unknown] => {
    const { schema, restore } = printGemini(shape);
    if (restore) keys.set(key, { restore });
    return [key, schema];
  });
  const required = members.filter((member) => member.required).map((member) => member.key);
  return {
    schema: {
      type: 'object',
      ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
      ...(required.length > 0 ? { required } : {}),
    },
    restore: restoreMembers(keys),
  };
};

const takenKeywords: ReadonlySet<string> = new Set(['maxLength', 'maximum', 'minLength', 'minimum', 'pattern']);

const takenLimits = (limits: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(limits).filter(
      ([keyword, value]) => takenKeywords.has(keyword) || (keyword === 'format' && value === 'date-time'),
    ),
  );

const printChoice = (values: readonly Json[]): Printed => {
  if (values.every((value) => typeof value === 'boolean')) return { schema: { type: 'boolean' } };
  const byText = new Map<string, Json>();
  for (const value of values) {
    const text = typeof value === 'string' ? value : JSON.stringify(value);
    if (text !== '' && !byText.has(text)) byText.set(text, value);
  }
  const schema = { type: 'string', ...(byText.size > 0 ? { enum: [...byText.keys()] } : {}) };
  if (values.every((value) => typeof value === 'string')) return { schema };
  const restore: Restore = (value) => (typeof value === 'string' ? (byText.get(value) ?? value) : value);
  return { schema, restore };
};
