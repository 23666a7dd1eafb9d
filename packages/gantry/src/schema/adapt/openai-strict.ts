import type { Json, JsonObject } from '../../kernel/json.ts';
import { type KeyRestore, restoreBranch, restoreItems, restoreMembers } from './restore.ts';
import type { Printed, Shape, ShapeMember } from './shape.ts';

/**
 * A shape in OpenAI's strict dialect: every object closed with all its keys required, optional keys nullable; the nulls that this invites are
 * taken out again. `undefined` when strict cannot express the shape (free keys, values of any type).
 */
export const printStrict = (shape: Shape): Printed | undefined => {
  const printed = printKind(shape);
  if (!printed || shape.description === undefined) return printed;
  return { ...printed, schema: { description: shape.description, ...printed.schema } };
};

const printKind = (shape: Shape): Printed | undefined => {
  switch (shape.kind) {
    case 'any':
      return undefined;
    case 'object':
      return shape.isOpen ? undefined : printObject(shape.members, shape.nullable);
    case 'array': {
      const items = printStrict(shape.items);
      const schema = { type: typed('array', shape.nullable), items: items?.schema, ...shape.limits };
      return items && { schema, restore: restoreItems(items.restore) };
    }
    case 'scalar':
      return { schema: { type: typed(shape.type, shape.nullable), ...takenLimits(shape.limits) } };
    case 'choice':
      return printChoice(shape.values, shape.nullable);
    case 'union':
      return printUnion(shape.branches, shape.nullable);
    default:
      return shape satisfies never;
  }
};

const typed = (type: string, nullable: boolean): string | string[] => (nullable ? [type, 'null'] : type);

const printObject = (members: readonly ShapeMember[], nullable: boolean): Printed | undefined => {
  const keys = new Map<string, KeyRestore>();
  const properties: [string, unknown][] = [];
  for (const { key, shape, required } of members) {
    const printed = printStrict(required ? shape : { ...shape, nullable: true });
    if (!printed) return undefined;
    const dropNull = !required && !shape.nullable;
    if (printed.restore || dropNull) keys.set(key, { restore: printed.restore, dropNull });
    properties.push([key, printed.schema]);
  }
  return {
    schema: {
      type: typed('object', nullable),
      properties: Object.fromEntries(properties),
      required: members.map((member) => member.key),
      additionalProperties: false,
    },
    restore: restoreMembers(keys),
  };
};

const printUnion = (shapes: readonly Shape[], nullable: boolean): Printed | undefined => {
  const branches: { shape: Shape; schema: Record<string, unknown>; restore?: Printed['restore'] }[] = [];
  for (const shape of shapes) {
    const printed = printStrict(shape);
    if (!printed) return undefined;
    branches.push({ shape, ...printed });
  }
  const schemas = branches.map((branch) => branch.schema);
  return {
    schema: { anyOf: nullable ? [...schemas, { type: 'null' }] : schemas },
    restore: restoreBranch(branches),
  };
};

const printChoice = (values: readonly Json[], nullable: boolean): Printed | undefined => {
  if (values.some((value) => typeof value === 'object')) return undefined;
  const types = [...new Set(values.map(typeName)), ...(nullable ? ['null'] : [])];
  return { schema: { type: types.length === 1 ? types[0] : types, enum: nullable ? [...values, null] : [...values] } };
};

const typeName = (value: Json): string => (Number.isInteger(value) ? 'integer' : typeof value);

const takenKeywords: ReadonlySet<string> = new Set([
  'exclusiveMaximum',
  'exclusiveMinimum',
  'maximum',
  'minimum',
  'multipleOf',
  'pattern',
]);
const takenFormats: ReadonlySet<unknown> = new Set(
  'date-time time date duration email hostname ipv4 ipv6 uuid'.split(' '),
);

const takenLimits = (limits: JsonObject): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(limits).filter(
      ([keyword, value]) => takenKeywords.has(keyword) || (keyword === 'format' && takenFormats.has(value)),
    ),
  );
