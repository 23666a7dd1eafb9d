import { isObject, type JsonObject } from '../kernel/json.ts';
import { losslessReadings } from './convert-value.ts';
import { parseArguments } from './parse-arguments.ts';
import { admits, admittedTypes, branchesOf, refusesNull, resolveNode, type SchemaNode, typeOf } from './schema-view.ts';

interface Repair {
  readonly root: SchemaNode;
  /** Visits left; a schema that multiplies by its own references is left alone when they are spent. */
  stepsLeft: number;
}

/**
 * Arguments with the slips of models undone where the schema leaves no doubt: numbers and booleans written as text, objects and lists
 * written as JSON text, one value in place of a list, null for an optional key whose schema refuses null. A value that fits is never
 * touched and nothing is made up; what still does not fit is for validation to name. The same object when there is nothing to do.
 */
export const repairArguments = (args: JsonObject, schema: Readonly<Record<string, unknown>>): JsonObject => {
  const repaired = repairValue(args, schema, { root: schema, stepsLeft: 20_000 });
  return isObject(repaired) ? (repaired as JsonObject) : args;
};

const repairValue = (value: unknown, schema: unknown, repair: Repair, alsoRequired = nothingRequired): unknown => {
  repair.stepsLeft -= 1;
  const node = repair.stepsLeft > 0 ? resolveNode(schema, repair.root) : undefined;
  if (!node) return value;
  const types = admittedTypes(node);
  if (types && !admits(types, typeOf(value))) return convert(value, node, repair);
  const parts = branchesOf(node, 'allOf');
  const required = parts.length === 0 ? alsoRequired : requiredByAny([node, ...parts], alsoRequired, repair);
  let repaired = repairMembers(value, node, repair, required);
  for (const part of parts) repaired = repairValue(repaired, part, repair, required);
  for (const keyword of ['anyOf', 'oneOf'] as const)
    repaired = repairAlternative(repaired, branchesOf(node, keyword), repair);
  return repaired;
};

/** The one lossless reading of a value whose type the node refuses, repaired in turn; else the value. */
const convert = (value: unknown, node: SchemaNode, repair: Repair): unknown => {
  const types = admittedTypes(node) ?? [];
  const readings = losslessReadings(value, types);
  if (readings.length === 1) {
    const [reading] = readings;
    // Text that became an object passes the same gate as the arguments themselves (depth, `__proto__`).
    if (typeof reading === 'object' && reading !== null && !parseArguments({ reading }).ok) return value;
    return repairValue(reading, node, repair);
  }
  return readings.length === 0 && types.includes('array') ? wrap(value, node, repair) : value;
};

/** A list of one, when the value is certainly an item: never a broken or comma-separated list that came as text. */
const wrap = (value: unknown, node: SchemaNode, repair: Repair): unknown => {
  const items = resolveNode(node['items'], repair.root);
  const itemTypes = items && admittedTypes(items);
  if (!itemTypes || value === null || !admits(itemTypes, typeOf(value))) return value;
  if (typeof value === 'string' && (value.trim() === '' || /^\s*[[{]|[,;\n]/.test(value))) return value;
  return [repairValue(value, items, repair)];
};

const repairMembers = (value: unknown, node: SchemaNode, repair: Repair, required: ReadonlySet<string>): unknown => {
  if (Array.isArray(value)) return repairItems(value, node, repair);
  return isObject(value) ? repairProperties(value, node, repair, required) : value;
};

const repairItems = (list: readonly unknown[], node: SchemaNode, repair: Repair): readonly unknown[] => {
  const positional = node['prefixItems'] ?? node['items'];
  const first = Array.isArray(positional) ? positional : [];
  const rest = Array.isArray(node['items']) ? node['additionalItems'] : node['items'];
  let copy: unknown[] | undefined;
  for (const [index, item] of list.entries()) {
    const repaired = repairValue(item, index < first.length ? first[index] : rest, repair);
    if (repaired !== item) (copy ??= [...list])[index] = repaired;
  }
  return copy ?? list;
};

const repairProperties = (
  object: SchemaNode,
  node: SchemaNode,
  repair: Repair,
  alsoRequired: ReadonlySet<string>,
): SchemaNode => {
  const isRequired = (key: string): boolean => alsoRequired.has(key) || requiredKeys(node).includes(key);
  const properties = isObject(node['properties']) ? node['properties'] : {};
  // Which pattern a key falls under is the validator's to find out.
  const others = node['patternProperties'] === undefined ? node['additionalProperties'] : undefined;
  let changes: Map<string, unknown> | undefined;
  for (const [key, member] of Object.entries(object)) {
    if (member === undefined) continue;
    const isDeclared = Object.hasOwn(properties, key);
    const schema = isDeclared ? properties[key] : others;
    if (member === null && isDeclared && !isRequired(key) && refusesNull(schema, repair.root)) {
      (changes ??= new Map()).set(key, undefined);
      continue;
    }
    const repaired = repairValue(member, schema, repair);
    if (repaired !== member) (changes ??= new Map()).set(key, repaired);
  }
  if (!changes) return object;
  return Object.fromEntries(
    Object.entries(object).flatMap(([key, member]): [string, unknown][] => {
      if (!changes.has(key)) return [[key, member]];
      const change = changes.get(key);
      return change === undefined ? [] : [[key, change]];
    }),
  );
};

const nothingRequired: ReadonlySet<string> = new Set();

const requiredKeys = (node: SchemaNode): readonly unknown[] =>
  Array.isArray(node['required']) ? node['required'] : [];

/** The keys that one of several schemas requires which hold together. */
const requiredByAny = (
  schemas: readonly unknown[],
  others: ReadonlySet<string>,
  repair: Repair,
): ReadonlySet<string> => {
  const nodes = schemas.map((schema) => resolveNode(schema, repair.root) ?? {});
  return new Set([...others, ...nodes.flatMap(requiredKeys)] as string[]);
};

/** Repairs a value by the one alternative it can belong to; by the only reading there is when it belongs to none. */
const repairAlternative = (value: unknown, branches: readonly unknown[], repair: Repair): unknown => {
  if (branches.length === 0) return value;
  const possible = branches.filter((branch) => couldBe(value, branch, repair));
  if (possible.length > 0) return possible.length === 1 ? repairValue(value, possible[0], repair) : value;
  const readings = new Map<string, unknown>();
  for (const branch of branches) {
    const node = resolveNode(branch, repair.root);
    if (!node || !admittedTypes(node)) continue;
    const reading = convert(value, node, repair);
    if (reading !== value && couldBe(reading, branch, repair)) readings.set(JSON.stringify(reading), reading);
  }
  return readings.size === 1 ? readings.values().next().value : value;
};

/** Whether a value may belong to an alternative: right type, its required keys there, its fixed members equal. */
const couldBe = (value: unknown, branch: unknown, repair: Repair): boolean => {
  if (branch === false) return false;
  const node = resolveNode(branch, repair.root);
  if (!node) return true;
  const types = admittedTypes(node);
  if (types && !admits(types, typeOf(value))) return false;
  if (typeof value !== 'object' && !isFixedValue(value, node)) return false;
  if (!isObject(value)) return true;
  if (requiredKeys(node).some((key) => !Object.hasOwn(value, String(key)))) return false;
  return Object.entries(isObject(node['properties']) ? node['properties'] : {}).every(([key, member]) => {
    const fixed = Object.hasOwn(value, key) ? resolveNode(member, repair.root) : undefined;
    return !fixed || isFixedValue(value[key], fixed);
  });
};

const isFixedValue = (value: unknown, node: SchemaNode): boolean => {
  if ('const' in node && typeof node['const'] !== 'object') return node['const'] === value;
  return !Array.isArray(node['enum']) || typeof value === 'object' || node['enum'].includes(value);
};
