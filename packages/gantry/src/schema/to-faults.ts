import type { ErrorObject } from 'ajv';
import { atPointer } from '../kernel/json-pointer.ts';
import { isObject } from '../kernel/json.ts';
import { nearest } from '../kernel/nearest.ts';
import type { Fault } from './faults.ts';
import type { Schema } from './subschemas.ts';

const maxFaults = 20;
/** A long list of wrong items gives errors by the thousand, and sorting them by alternative compares each with each. */
const maxErrors = 200;

/**
 * The validator's errors in our words, at most 20. Of alternatives that all failed, only the faults of the one that came closest are told.
 */
export const toFaults = (errors: readonly ErrorObject[], schema: Schema): Fault[] => {
  const told = closestAlternatives(errors.slice(0, maxErrors), schema);
  const specific = told.filter((error) => error.keyword !== 'if' && error.keyword !== 'propertyNames');
  return (specific.length > 0 ? specific : told).slice(0, maxFaults).map(toFault);
};

/** For each failed `anyOf` or `oneOf` the errors of its closest branch instead of all, where the branches can be told apart. */
const closestAlternatives = (errors: readonly ErrorObject[], schema: Schema): ErrorObject[] => {
  let kept: ErrorObject[] = [];
  for (const error of errors) {
    const isChoice = (error.keyword === 'anyOf' || error.keyword === 'oneOf') && Array.isArray(error.schema);
    if (!isChoice) {
      kept.push(error);
      continue;
    }
    const groups = (error.schema as unknown[]).map((branch) => {
      const nodes = nodesOf(branch, schema);
      return kept.filter((one) => nodes.has(one.parentSchema) && one.instancePath.startsWith(error.instancePath));
    });
    const failed = groups.filter((group) => group.length > 0).sort((a, b) => distance(a, error) - distance(b, error));
    const [closest] = failed;
    if (!closest) {
      kept.push(error);
      continue;
    }
    const all = new Set(failed.flat());
    const isTypeChoice = failed.every((group) => group.every((one) => isWrongAt(one, error)));
    kept = kept.filter((one) => !all.has(one));
    // When the value is none of the types (or fixed values) on offer, the choice as a whole is what has to be said.
    if (isTypeChoice) kept.push(error);
    else kept.push(...closest);
  }
  return kept;
};

/** Every node of a branch, also behind references: errors name the node they come from, but not the way to it. */
const nodesOf = (branch: unknown, root: Schema): ReadonlySet<unknown> => {
  const nodes = new Set<unknown>();
  const open = [branch];
  while (open.length > 0) {
    const node = open.pop();
    if (typeof node !== 'object' || node === null || nodes.has(node)) continue;
    nodes.add(node);
    open.push(...(Object.values(node) as unknown[]));
    if (isObject(node) && typeof node['$ref'] === 'string') open.push(atPointer(root, node['$ref']));
  }
  return nodes;
};

const isWrongAt = (error: ErrorObject, choice: ErrorObject): boolean =>
  error.instancePath === choice.instancePath && ['type', 'const', 'enum'].includes(error.keyword);

/** How far an alternative is from the value: a wrong type or fixed value says that another alternative was meant. */
const distance = (group: readonly ErrorObject[], choice: ErrorObject): number =>
  group.reduce((sum, error) => {
    if (isWrongAt(error, choice)) return sum + 100;
    return sum + (error.keyword === 'const' || error.keyword === 'enum' ? 10 : 1);
  }, 0);

const toFault = (error: ErrorObject): Fault => {
  const path = toPath(error.instancePath);
  const params = error.params as Record<string, unknown>;
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired':
      return { path: joinPath(path, String(params['missingProperty'])), problem: 'is missing', kind: 'missing' };
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const key = String(params['additionalProperty'] ?? params['unevaluatedProperty']);
      return { path: joinPath(path, key), problem: unknownKey(key, error.parentSchema), kind: 'unknown' };
    }
    case 'type':
      return { path, problem: `must be ${typeWords(params['type'])}, but ${came(error.data)} came`, kind: 'type' };
    case 'enum':
      return {
        path,
        problem: `must be one of ${values(params['allowedValues'])}, but ${came(error.data)} came`,
        kind: 'value',
      };
    case 'const':
      return {
        path,
        problem: `must be ${values([params['allowedValue']])}, but ${came(error.data)} came`,
        kind: 'value',
      };
    case 'false schema':
      return { path, problem: 'is not allowed', kind: 'unknown' };
    case 'oneOf':
      if (Array.isArray(params['passingSchemas']))
        return { path, problem: 'fits more than one alternative', kind: 'value' };
      return { path, problem: choiceWords(error), kind: 'value' };
    case 'anyOf':
      return { path, problem: choiceWords(error), kind: 'value' };
    default:
      return {
        path,
        problem: `${(error.message ?? 'does not fit').slice(0, 160)}, but ${came(error.data)} came`,
        kind: 'value',
      };
  }
};

const unknownKey = (key: string, parent: unknown): string => {
  const known = isObject(parent) && isObject(parent['properties']) ? Object.keys(parent['properties']) : [];
  const [near] = nearest(key, known, 1);
  return near === undefined ? 'is not a known key' : `is not a known key (did you mean "${near}"?)`;
};

const choiceWords = (error: ErrorObject): string => {
  const branches = (error.schema as unknown[]).filter(isObject);
  const types = branches.flatMap((branch) => branch['type'] ?? []);
  return types.length === branches.length
    ? `must be ${typeWords(types)}, but ${came(error.data)} came`
    : `fits none of its ${branches.length} alternatives; ${came(error.data)} came`;
};

const typeWords = (type: unknown): string =>
  (Array.isArray(type) ? (type as unknown[]) : String(type).split(','))
    .map((one) => withArticle(String(one)))
    .join(' or ');

const withArticle = (type: string): string =>
  type === 'null' ? 'null' : /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;

/** What came, shortened: `a string ("12abc")`. */
const came = (data: unknown): string => {
  if (data === null || data === undefined) return 'null';
  if (Array.isArray(data)) return `an array of ${data.length}`;
  if (typeof data === 'object') return 'an object';
  if (typeof data !== 'string') return `a ${typeof data} (${JSON.stringify(data)})`;
  const shown = JSON.stringify(data.slice(0, 40).toWellFormed());
  return `a string (${data.length > 40 ? `${shown.slice(0, -1)}…"` : shown})`;
};

const values = (allowed: unknown): string => {
  const texts = (Array.isArray(allowed) ? allowed : []).map((value) => JSON.stringify(value).slice(0, 60));
  const shown = texts.slice(0, 12).join(', ');
  return texts.length > 12 ? `${shown} and ${texts.length - 12} more` : shown;
};

const toPath = (instancePath: string): string =>
  instancePath
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce((path, token) => (/^\d+$/.test(token) ? `${path}[${token}]` : joinPath(path, token)), '')
    .slice(0, 200);

const joinPath = (path: string, key: string): string => {
  const shown = key.slice(0, 80);
  return path === '' ? shown : `${path}.${shown}`;
};
