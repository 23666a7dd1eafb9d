import { atPointer } from '../kernel/json-pointer.ts';
import { isObject } from '../kernel/json.ts';

/** The JSON Schema type names. */
export type JsonType = 'array' | 'boolean' | 'integer' | 'null' | 'number' | 'object' | 'string';

/** A subschema as repair reads it. */
export type SchemaNode = Readonly<Record<string, unknown>>;

/** Follows local references; `undefined` for what is no object schema, leads nowhere or round in a circle. */
export const resolveNode = (schema: unknown, root: SchemaNode): SchemaNode | undefined => {
  let node = schema;
  for (let hops = 0; hops < 16; hops += 1) {
    if (!isObject(node)) return undefined;
    if (typeof node['$ref'] !== 'string') return node;
    node = atPointer(root, node['$ref']);
  }
  return undefined;
};

/** The types that a node admits, from `type`, `nullable`, `const` and `enum`; `undefined` when it says nothing. */
export const admittedTypes = (node: SchemaNode): readonly JsonType[] | undefined => {
  const { type } = node;
  if (typeof type === 'string') return node['nullable'] === true ? [type as JsonType, 'null'] : [type as JsonType];
  if (Array.isArray(type)) return type as JsonType[];
  if ('const' in node) return [typeOf(node['const'])];
  if (Array.isArray(node['enum'])) return [...new Set(node['enum'].map(typeOf))];
  return undefined;
};

/** The JSON type of a value; a whole number is an `integer`. */
export const typeOf = (value: unknown): JsonType => {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value as JsonType;
};

/** True when a value of type `actual` is one of `admitted`. */
export const admits = (admitted: readonly JsonType[], actual: JsonType): boolean =>
  admitted.includes(actual) || (actual === 'integer' && admitted.includes('number'));

/** The members of a list-valued keyword such as `anyOf`. */
export const branchesOf = (node: SchemaNode, keyword: 'allOf' | 'anyOf' | 'oneOf'): readonly unknown[] =>
  Array.isArray(node[keyword]) ? node[keyword] : [];

/** True when the node certainly refuses null. */
export const refusesNull = (schema: unknown, root: SchemaNode, levelsLeft = 16): boolean => {
  if (schema === false) return true;
  const node = resolveNode(schema, root);
  if (!node || levelsLeft === 0) return false;
  const types = admittedTypes(node);
  if (types && !types.includes('null')) return true;
  if (Array.isArray(node['enum']) && !node['enum'].includes(null) && node['nullable'] !== true) return true;
  if ('const' in node && node['const'] !== null) return true;
  const refused = (branch: unknown): boolean => refusesNull(branch, root, levelsLeft - 1);
  if (branchesOf(node, 'allOf').some(refused)) return true;
  return (['anyOf', 'oneOf'] as const).some((keyword) => {
    const branches = branchesOf(node, keyword);
    return branches.length > 0 && branches.every(refused);
  });
};
