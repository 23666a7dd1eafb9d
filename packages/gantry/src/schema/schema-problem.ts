import { atPointer } from '../kernel/json-pointer.ts';
import { isObject } from '../kernel/json.ts';
import { eachSubschema, type Schema } from './subschemas.ts';

/** Bounds of a schema; compiling time grows with these, and far larger ones have only been seen from generators gone wrong. */
const limits = { depth: 100, subschemas: 4_000, chars: 512_000 } as const;

const typeNames: ReadonlySet<unknown> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);
const mapKeywords = ['$defs', 'definitions', 'dependentSchemas', 'patternProperties', 'properties'] as const;
const listKeywords = ['allOf', 'anyOf', 'oneOf', 'prefixItems'] as const;
const numberKeywords = [
  'maxItems',
  'maxLength',
  'maxProperties',
  'maximum',
  'minItems',
  'minLength',
  'minProperties',
  'minimum',
  'multipleOf',
] as const;

/**
 * Why a value cannot be used as the JSON Schema of a tool, naming the place; `undefined` when it can. Besides wrong keywords it refuses
 * what could hang or break a validator: excessive size or depth, references that lead outside or nowhere, asynchronous schemas.
 */
export const schemaProblem = (schema: unknown): string | undefined => {
  if (!isObject(schema)) return `the schema must be a JSON object, not ${nameOf(schema)}`;
  return sizeProblem(schema) ?? new Inspection(schema).problem;
};

const nameOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'a list' : value === undefined ? 'absent' : `a ${typeof value}`;

const sizeProblem = (schema: Schema): string | undefined => {
  let charsLeft: number = limits.chars;
  const visit = (value: unknown, depth: number): string | undefined => {
    charsLeft -= typeof value === 'string' ? value.length : 4;
    if (charsLeft < 0) return `the schema is larger than ${limits.chars} characters`;
    if (typeof value !== 'object' || value === null) return undefined;
    if (depth > limits.depth) return `the schema nests more than ${limits.depth} levels`;
    if ((value as Schema)['$async'] === true) return 'the schema is asynchronous ("$async"), which is not supported';
    for (const [key, member] of Object.entries(value)) {
      charsLeft -= key.length;
      const problem = visit(member, depth + 1);
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
  return visit(schema, 0);
};

class Inspection {
  readonly problem: string | undefined;
  readonly #root: Schema;
  readonly #anchors = new Set<string>();
  #subschemas = 0;

  constructor(root: Schema) {
    this.#root = root;
    this.#collectAnchors(root);
    this.problem = this.#visit(root, []);
  }

  #collectAnchors(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    for (const [key, member] of Object.entries(value)) {
      if (/^\$(?:dynamicAnchor|anchor|id)$/.test(key) && typeof member === 'string')
        this.#anchors.add(member.startsWith('#') ? member : `#${member}`);
      else this.#collectAnchors(member);
    }
  }

  #visit(schema: unknown, path: readonly string[]): string | undefined {
    if (typeof schema === 'boolean') return undefined;
    if (!isObject(schema)) return `${at(path)} must be a schema (an object or a boolean), not ${nameOf(schema)}`;
    this.#subschemas += 1;
    if (this.#subschemas > limits.subschemas) return `the schema has more than ${limits.subschemas} subschemas`;
    const own = keywordProblem(schema) ?? this.#referenceProblem(schema);
    if (own !== undefined) return `${at(path)} ${own}`;
    let problem: string | undefined;
    eachSubschema(schema, (sub, tokens) => {
      problem ??= this.#visit(sub, [...path, ...tokens]);
    });
    return problem;
  }

  #referenceProblem(schema: Schema): string | undefined {
    for (const keyword of ['$ref', '$dynamicRef'] as const) {
      const reference = schema[keyword];
      if (reference === undefined) continue;
      if (typeof reference !== 'string') return `has a "${keyword}" that is not text`;
      const local = this.#toLocal(reference);
      if (local === undefined)
        return `refers to "${reference.slice(0, 120)}" outside the schema; only local references work`;
      if (atPointer(this.#root, local) === undefined && !this.#anchors.has(local))
        return `refers to "${reference.slice(0, 120)}", which is not there`;
      if (leadsNowhere(this.#root, schema))
        return `refers to "${reference.slice(0, 120)}", which only leads round in a circle`;
    }
    return undefined;
  }

  #toLocal(reference: string): string | undefined {
    if (reference.startsWith('#')) return reference;
    const id = this.#root['$id'] ?? this.#root['id'];
    const base = typeof id === 'string' ? id.replace(/#$/, '') : '';
    return base !== '' && reference.startsWith(`${base}#`) ? reference.slice(base.length) : undefined;
  }
}

const at = (path: readonly string[]): string =>
  path.length === 0 ? 'the schema' : `"${path.join('/').slice(0, 200)}"`;

/** A chain of references that comes back to itself without describing anything. */
const leadsNowhere = (root: Schema, start: Schema): boolean => {
  let node: unknown = start;
  const seen = new Set<unknown>();
  while (isObject(node) && typeof node['$ref'] === 'string') {
    if (seen.has(node)) return true;
    seen.add(node);
    node = atPointer(root, node['$ref']);
  }
  return false;
};

const keywordProblem = (schema: Schema): string | undefined => {
  const { type, required } = schema;
  const types = Array.isArray(type) ? (type as unknown[]) : type === undefined ? ['object'] : [type];
  const unknown = types.find((name) => !typeNames.has(name));
  if (unknown !== undefined || types.length === 0) return `has the unknown type ${JSON.stringify(unknown ?? type)}`;
  for (const keyword of mapKeywords)
    if (schema[keyword] !== undefined && !isObject(schema[keyword]))
      return `has "${keyword}" that must be an object, not ${nameOf(schema[keyword])}`;
  for (const keyword of listKeywords) {
    const list = schema[keyword];
    if (list !== undefined && (!Array.isArray(list) || list.length === 0))
      return `has "${keyword}" that must be a list of schemas`;
  }
  if (required !== undefined && typeof required !== 'boolean' && !isTextList(required))
    return 'has "required" that must be a list of key names';
  if (schema['enum'] !== undefined && !Array.isArray(schema['enum'])) return 'has "enum" that must be a list of values';
  if (schema['pattern'] !== undefined && typeof schema['pattern'] !== 'string')
    return 'has "pattern" that must be text';
  const wrong = numberKeywords.find((keyword) => schema[keyword] !== undefined && typeof schema[keyword] !== 'number');
  return wrong === undefined ? undefined : `has "${wrong}" that must be a number`;
};

const isTextList = (value: unknown): boolean => Array.isArray(value) && value.every((item) => typeof item === 'string');
