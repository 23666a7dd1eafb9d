import { atPointer } from '../../kernel/json-pointer.ts';
import { isObject } from '../../kernel/json.ts';
import { canonicalText } from '../canonical.ts';
import type { Schema } from '../subschemas.ts';

/** An object schema without `$ref`, `allOf`, `anyOf` and `oneOf` of its own. */
export interface FlatObject {
  readonly schema: Record<string, unknown>;
  /** The alternatives that were merged, of which exactly or at least one has to hold. */
  readonly alternatives: readonly unknown[];
}

/**
 * One object schema that accepts whatever the given one accepts: alternatives are merged into the union of their keys, and only the
 * keys that every alternative requires stay required. The original is what arguments are validated against.
 */
export const flattenObject = (schema: Schema, root: Schema): FlatObject =>
  flatten(schema, { root, stepsLeft: maxSteps, levelsLeft: maxLevels });

/** References in references multiply; beyond these the rest of the rules is dropped, which only widens what is accepted. */
const maxLevels = 8;
const maxSteps = 500;

interface Flattening {
  readonly root: Schema;
  stepsLeft: number;
  levelsLeft: number;
}

const flatten = (schema: Schema, state: Flattening): FlatObject => {
  const { $ref: reference, allOf, anyOf, oneOf, ...own } = schema;
  const parts: FlatObject[] = [];
  const flatBranches: Schema[] = [];
  const branches = [...listOf(anyOf), ...listOf(oneOf)].filter(isObjectLike);
  state.levelsLeft -= 1;
  if (state.levelsLeft > 0) {
    const bases = [typeof reference === 'string' ? atPointer(state.root, reference) : undefined, ...listOf(allOf)];
    for (const base of bases) if (isObject(base) && takeStep(state)) parts.push(flatten(base, state));
    for (const branch of branches) if (takeStep(state)) flatBranches.push(flatten(branch, state).schema);
  }
  state.levelsLeft += 1;
  const merged = [
    ...parts.map((part) => part.schema),
    own,
    ...(flatBranches.length > 0 ? [eitherOf(flatBranches)] : []),
  ];
  return {
    schema: { ...Object.assign({}, ...merged), ...allOfThem(merged), type: 'object' } as Record<string, unknown>,
    alternatives: [...parts.flatMap((part) => part.alternatives), ...branches],
  };
};

const takeStep = (state: Flattening): boolean => {
  state.stepsLeft -= 1;
  return state.stepsLeft > 0;
};

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

const isObjectLike = (branch: unknown): branch is Schema =>
  isObject(branch) && (branch['type'] === undefined || [branch['type']].flat().includes('object'));

const propertiesOf = (schema: Schema): Schema => (isObject(schema['properties']) ? schema['properties'] : {});
const requiredOf = (schema: Schema): readonly string[] =>
  listOf(schema['required']).filter((key) => typeof key === 'string');

/** Keys and required keys of schemas that hold together. */
const allOfThem = (schemas: readonly Schema[]): Record<string, unknown> => {
  const properties = new Map<string, unknown>();
  for (const schema of schemas)
    for (const [key, member] of Object.entries(propertiesOf(schema))) {
      const before = properties.get(key);
      const isSame = before === undefined || canonicalText(before) === canonicalText(member);
      properties.set(key, isSame ? member : narrower(before, member));
    }
  const required = [...new Set(schemas.flatMap(requiredOf))];
  return {
    properties: Object.fromEntries(properties),
    ...(required.length > 0 ? { required } : {}),
  };
};

/** Of two schemas for one key, the one that fixes values; else both. */
const narrower = (a: unknown, b: unknown): unknown => {
  if (a === true || (isObject(a) && Object.keys(a).length === 0)) return b;
  if (b === true || (isObject(b) && Object.keys(b).length === 0) || fixedValues(a)) return a;
  return fixedValues(b) ? b : { allOf: [a, b] };
};

/** One schema for values that fit any of the branches. */
const eitherOf = (branches: readonly Schema[]): Record<string, unknown> => {
  const members = new Map<string, unknown[]>();
  for (const branch of branches)
    for (const [key, member] of Object.entries(propertiesOf(branch)))
      members.set(key, [...(members.get(key) ?? []), member]);
  const [first, ...others] = branches.map((branch) => new Set(requiredOf(branch)));
  const required = [...(first ?? [])].filter((key) => others.every((other) => other.has(key)));
  return {
    properties: Object.fromEntries([...members].map(([key, schemas]) => [key, anyOfThem(schemas)])),
    ...(required.length > 0 ? { required } : {}),
    ...(branches.every((branch) => branch['additionalProperties'] === false) ? { additionalProperties: false } : {}),
  };
};

const anyOfThem = (schemas: readonly unknown[]): unknown => {
  const distinct = [...new Map(schemas.map((schema) => [canonicalText(schema), schema])).values()];
  if (distinct.length === 1) return distinct[0];
  const values = distinct.map(fixedValues);
  if (!values.every((list) => list !== undefined)) return { anyOf: distinct };
  const head = distinct.find(isObject);
  return { ...(head?.['type'] === undefined ? {} : { type: head['type'] }), enum: [...new Set(values.flat())] };
};

const fixedValues = (schema: unknown): readonly unknown[] | undefined => {
  if (!isObject(schema)) return undefined;
  if ('const' in schema) return [schema['const']];
  return Array.isArray(schema['enum']) ? schema['enum'] : undefined;
};
