import { isObject } from '../kernel/json.ts';

/** An object schema; the keywords are whatever its author wrote. */
export type Schema = Readonly<Record<string, unknown>>;

const singles = [
  'additionalItems',
  'additionalProperties',
  'contains',
  'else',
  'if',
  'items',
  'not',
  'propertyNames',
  'then',
  'unevaluatedItems',
  'unevaluatedProperties',
] as const;
const lists = ['allOf', 'anyOf', 'items', 'oneOf', 'prefixItems'] as const;
const maps = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'] as const;

/** Keywords whose members are named by the author, so that a key in them is no keyword. */
export const namedKeywords: ReadonlySet<string> = new Set<string>([...maps, 'dependencies']);

/** Visits the direct subschemas of a schema with the pointer tokens that lead to each. */
export const eachSubschema = (schema: Schema, visit: (sub: unknown, at: readonly string[]) => void): void => {
  for (const keyword of singles)
    if (schema[keyword] !== undefined && !Array.isArray(schema[keyword])) visit(schema[keyword], [keyword]);
  for (const keyword of lists) {
    const members = schema[keyword];
    if (Array.isArray(members)) for (const [index, sub] of members.entries()) visit(sub, [keyword, String(index)]);
  }
  for (const keyword of maps) {
    const members = schema[keyword];
    if (isObject(members)) for (const [name, sub] of Object.entries(members)) visit(sub, [keyword, name]);
  }
};

/** A copy of a schema with each direct subschema replaced by what `map` gives. */
export const mapSubschemas = (schema: Schema, map: (sub: unknown) => unknown): Record<string, unknown> => {
  const copy: Record<string, unknown> = { ...schema };
  for (const keyword of singles)
    if (copy[keyword] !== undefined && !Array.isArray(copy[keyword])) copy[keyword] = map(copy[keyword]);
  for (const keyword of lists) {
    const members = copy[keyword];
    if (Array.isArray(members)) copy[keyword] = members.map(map);
  }
  for (const keyword of maps) {
    const members = copy[keyword];
    if (isObject(members))
      copy[keyword] = Object.fromEntries(Object.entries(members).map(([name, sub]) => [name, map(sub)]));
  }
  return copy;
};
