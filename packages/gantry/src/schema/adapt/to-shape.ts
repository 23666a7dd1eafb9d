import { atPointer } from '../../kernel/json-pointer.ts';
import { isObject, type Json, type JsonObject } from '../../kernel/json.ts';
import type { Schema } from '../subschemas.ts';
import { flattenObject } from './flatten-root.ts';
import type { Shape, ShapeMember, ShapeNotes } from './shape.ts';

/** How often one reference may occur inside itself before the rest is left open: a tree is shown to its grandchildren. */
const maxRecursion = 2;
/** How many references may stand inside each other. */
const maxReferences = 32;
/** Beyond this many subschemas the rest is left open; references multiply when they are written out. */
const maxNodes = 5_000;

interface Reading {
  readonly root: Schema;
  readonly refs: readonly string[];
  readonly budget: { nodesLeft: number };
}

/** Reads a schema (2020-12 words) as a {@link Shape}. References are written out; what goes round in a circle ends in an open shape. */
export const toShape = (schema: Schema): Shape =>
  read(schema, { root: schema, refs: [], budget: { nodesLeft: maxNodes } });

const read = (schema: unknown, reading: Reading): Shape => {
  reading.budget.nodesLeft -= 1;
  if (!isObject(schema) || reading.budget.nodesLeft < 0) return { kind: 'any', nullable: true };
  if (typeof schema['$ref'] === 'string') return readReference(schema['$ref'], schema, reading);
  const values = fixedValues(schema);
  if (values) return choice(values, notesOf(schema, values.includes(null)));
  const types = typesOf(schema);
  const notes = notesOf(schema, types.includes('null'));
  const solid = types.filter((type) => type !== 'null');
  if (isCombined(schema, solid)) return readCombined(schema, reading);
  if (solid.length === 0) return readAlternatives(schema, types.length > 0, reading);
  if (solid.length === 1) return readType(solid[0] as string, schema, notes, reading);
  const branches = solid.map((type) => readType(type, schema, { nullable: false }, reading));
  return { kind: 'union', branches, ...notes };
};

const notesOf = (schema: Schema, nullable: boolean): ShapeNotes =>
  typeof schema['description'] === 'string' ? { description: schema['description'], nullable } : { nullable };

const typesOf = (schema: Schema): readonly string[] => {
  const { type } = schema;
  if (Array.isArray(type)) return type as string[];
  if (typeof type === 'string') return [type];
  if (isObject(schema['properties'])) return ['object'];
  return schema['items'] !== undefined || schema['prefixItems'] !== undefined ? ['array'] : [];
};

const fixedValues = (schema: Schema): readonly Json[] | undefined => {
  if ('const' in schema) return [schema['const'] as Json];
  return Array.isArray(schema['enum']) ? (schema['enum'] as Json[]) : undefined;
};

const choice = (values: readonly Json[], notes: ShapeNotes): Shape => {
  const solid = values.filter((value) => value !== null);
  return solid.length > 0
    ? { kind: 'choice', values: solid, ...notes }
    : { kind: 'scalar', type: 'string', limits: {}, ...notes };
};

const readReference = (reference: string, schema: Schema, reading: Reading): Shape => {
  const target = atPointer(reading.root, reference);
  const { $ref: _, ...beside } = schema;
  if (!isObject(target)) return { kind: 'any', ...notesOf(beside, true) };
  const whole = { ...target, ...beside };
  return isDeep(reference, reading) ? openEnd(whole) : read(whole, { ...reading, refs: [...reading.refs, reference] });
};

const isDeep = (reference: string, { refs }: Reading): boolean =>
  refs.length >= maxReferences || refs.filter((ref) => ref === reference).length >= maxRecursion;

/** What stands where a recursion is broken off: the right type, with anything in it. */
const openEnd = (schema: Schema): Shape => {
  const [type] = typesOf(schema);
  if (type === 'array')
    return { kind: 'array', items: { kind: 'any', nullable: true }, limits: {}, ...notesOf(schema, false) };
  if (type === 'object') return { kind: 'object', members: [], isOpen: true, ...notesOf(schema, false) };
  return { kind: 'any', ...notesOf(schema, true) };
};

const isCombined = (schema: Schema, types: readonly string[]): boolean =>
  Array.isArray(schema['allOf']) ||
  (types.length === 1 && types[0] === 'object' && (Array.isArray(schema['anyOf']) || Array.isArray(schema['oneOf'])));

const readCombined = (schema: Schema, reading: Reading): Shape => {
  const { allOf, ...own } = schema;
  const listed = Array.isArray(allOf) ? (allOf as unknown[]) : [];
  const refs = [...listed, ...branchesOf(schema)].flatMap(referenceOf);
  const parts = listed.map((part) => resolve(part, reading));
  const isObjects = [own, ...parts].some((part) => typesOf(part).includes('object'));
  const merged = Object.assign({}, ...parts, own) as Schema;
  if (refs.some((ref) => isDeep(ref, reading))) return openEnd(merged);
  const inside = { ...reading, refs: [...reading.refs, ...refs] };
  if (isObjects) {
    const nullable = [own, ...parts].every((part) => [part['type']].flat().includes('null'));
    return { ...read(flattenObject(schema, reading.root).schema, inside), nullable };
  }
  // A part that is itself combined would come back here for ever if it contained the whole.
  return Array.isArray(merged['allOf']) ? { kind: 'any', ...notesOf(merged, true) } : read(merged, inside);
};

const branchesOf = (schema: Schema): readonly unknown[] =>
  [schema['anyOf'], schema['oneOf']].filter((list) => Array.isArray(list)).flat();

const referenceOf = (schema: unknown): string[] =>
  isObject(schema) && typeof schema['$ref'] === 'string' ? [schema['$ref']] : [];

const resolve = (part: unknown, reading: Reading): Schema => {
  const [reference] = referenceOf(part);
  const target = reference === undefined ? part : atPointer(reading.root, reference);
  return isObject(target) ? target : {};
};

const readAlternatives = (schema: Schema, isNullOnly: boolean, reading: Reading): Shape => {
  const listed = schema['anyOf'] ?? schema['oneOf'];
  if (isNullOnly) return { kind: 'scalar', type: 'string', limits: {}, ...notesOf(schema, true) };
  if (!Array.isArray(listed)) return { kind: 'any', ...notesOf(schema, true) };
  const isNull = (branch: unknown): boolean => isObject(branch) && branch['type'] === 'null';
  const branches = listed
    .filter((branch) => !isNull(branch) && branch !== false)
    .map((branch) => read(branch, reading));
  const nullable = listed.some(isNull) || branches.some((branch) => branch.nullable);
  const notes = notesOf(schema, nullable);
  if (branches.some((branch) => branch.kind === 'any')) return { kind: 'any', ...notes };
  const flat = branches.flatMap((branch) => (branch.kind === 'union' ? branch.branches : [branch]));
  if (flat.length === 0) return { kind: 'scalar', type: 'string', limits: {}, ...notes };
  if (flat.every((branch) => branch.kind === 'choice'))
    return choice([...new Set(flat.flatMap((branch) => branch.values))], notes);
  if (flat.length === 1) return { ...(flat[0] as Shape), ...notes };
  return { kind: 'union', branches: flat.map((branch) => ({ ...branch, nullable: false })), ...notes };
};

const readType = (type: string, schema: Schema, notes: ShapeNotes, reading: Reading): Shape => {
  switch (type) {
    case 'object':
      return readObject(schema, notes, reading);
    case 'array':
      return {
        kind: 'array',
        items: readItems(schema, reading),
        limits: pick(schema, ['maxItems', 'minItems']),
        ...notes,
      };
    case 'string':
    case 'number':
    case 'integer':
    case 'boolean':
      return { kind: 'scalar', type, limits: pick(schema, scalarLimits[type]), ...notes };
    default:
      return { kind: 'any', ...notes, nullable: true };
  }
};

const numberLimits = ['exclusiveMaximum', 'exclusiveMinimum', 'maximum', 'minimum', 'multipleOf'] as const;
const scalarLimits = {
  string: ['format', 'maxLength', 'minLength', 'pattern'],
  number: numberLimits,
  integer: numberLimits,
  boolean: [],
} as const;

const pick = (schema: Schema, keywords: readonly string[]): JsonObject =>
  Object.fromEntries(
    keywords.filter((keyword) => schema[keyword] !== undefined).map((keyword) => [keyword, schema[keyword] as Json]),
  );

const readItems = (schema: Schema, reading: Reading): Shape => {
  const first = Array.isArray(schema['prefixItems']) ? (schema['prefixItems'] as unknown[]) : [];
  const rest = schema['items'] === undefined || schema['items'] === false ? [] : [schema['items']];
  return first.length === 0 ? read(rest[0], reading) : read({ anyOf: [...first, ...rest] }, reading);
};

const readObject = (schema: Schema, notes: ShapeNotes, reading: Reading): Shape => {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = new Set(Array.isArray(schema['required']) ? (schema['required'] as string[]) : []);
  const members = Object.entries(properties)
    .filter(([, member]) => member !== false)
    .map(([key, member]): ShapeMember => ({ key, shape: read(member, reading), required: required.has(key) }));
  const extra = schema['additionalProperties'];
  const isOpen =
    extra === true ||
    isObject(extra) ||
    schema['patternProperties'] !== undefined ||
    (members.length === 0 && extra !== false);
  return { kind: 'object', members, isOpen, ...notes };
};
