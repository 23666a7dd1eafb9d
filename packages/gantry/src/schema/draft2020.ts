import { isObject } from '../kernel/json.ts';
import { namedKeywords, type Schema } from './subschemas.ts';

interface Dialect {
  /** `$ref` replaces what stands beside it (draft 7 and older). */
  readonly refReplaces: boolean;
  /** The root's own address, which references may spell out. */
  readonly rootId: string | undefined;
}

const dataKeywords: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples']);

/**
 * The same schema in the words of JSON Schema 2020-12, so that nothing else need know the older drafts and OpenAPI: tuples become
 * `prefixItems`, `nullable` a type, the exclusive flags of draft 4 bounds. `$schema` and `$id` are dropped and references made local.
 */
export const toDraft2020 = (schema: Schema): Schema => {
  const id = schema['$id'] ?? schema['id'];
  return convertNode(schema, {
    refReplaces: typeof schema['$schema'] === 'string' && /draft-0[3-7]/.test(schema['$schema']),
    rootId: typeof id === 'string' ? id.replace(/#$/, '') : undefined,
  });
};

const convertValue = (value: unknown, dialect: Dialect): unknown => {
  if (Array.isArray(value)) return value.map((item) => convertValue(item, dialect));
  return isObject(value) ? convertNode(value, dialect) : value;
};

const convertNode = (node: Schema, dialect: Dialect): Record<string, unknown> => {
  const copy: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(node)) {
    if (keyword === '__proto__' || (dialect.refReplaces && isReplaced(node, keyword))) continue;
    if (dataKeywords.has(keyword)) copy[keyword] = value;
    else if (namedKeywords.has(keyword) && isObject(value))
      copy[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, member]) => [name, convertValue(member, dialect)]),
      );
    else copy[keyword] = convertValue(value, dialect);
  }
  convertIds(copy, dialect);
  convertTuple(copy);
  convertBounds(copy, 'minimum', 'exclusiveMinimum');
  convertBounds(copy, 'maximum', 'exclusiveMaximum');
  convertNullable(copy);
  // Draft 3 marks a property required by a flag of its own; newer drafts list names.
  if (typeof copy['required'] === 'boolean') delete copy['required'];
  // Generators leave an empty list where they know no values; taken at its word it would refuse everything.
  if (Array.isArray(copy['enum']) && copy['enum'].length === 0) delete copy['enum'];
  return copy;
};

const isReplaced = (node: Schema, keyword: string): boolean =>
  typeof node['$ref'] === 'string' &&
  !['$ref', '$schema', '$id', '$defs', 'definitions', 'description'].includes(keyword);

const convertIds = (copy: Record<string, unknown>, { rootId }: Dialect): void => {
  const id = copy['$id'];
  if (typeof id === 'string' && id.startsWith('#') && id.length > 1) copy['$anchor'] = id.slice(1);
  for (const keyword of ['$schema', '$id', 'id'] as const) if (typeof copy[keyword] === 'string') delete copy[keyword];
  const reference = copy['$ref'];
  if (rootId && typeof reference === 'string' && reference.startsWith(`${rootId}#`))
    copy['$ref'] = reference.slice(rootId.length);
};

const convertTuple = (copy: Record<string, unknown>): void => {
  if (!Array.isArray(copy['items'])) return;
  copy['prefixItems'] = copy['items'];
  delete copy['items'];
  if (copy['additionalItems'] !== undefined) copy['items'] = copy['additionalItems'];
  delete copy['additionalItems'];
};

const convertBounds = (copy: Record<string, unknown>, bound: string, exclusive: string): void => {
  if (typeof copy[exclusive] !== 'boolean') return;
  const isExclusive = copy[exclusive];
  delete copy[exclusive];
  if (!isExclusive || typeof copy[bound] !== 'number') return;
  copy[exclusive] = copy[bound];
  delete copy[bound];
};

const convertNullable = (copy: Record<string, unknown>): void => {
  if (typeof copy['nullable'] !== 'boolean') return;
  const isNullable = copy['nullable'];
  delete copy['nullable'];
  if (!isNullable || typeof copy['type'] !== 'string') return;
  copy['type'] = [copy['type'], 'null'];
  if (Array.isArray(copy['enum']) && !copy['enum'].includes(null))
    copy['enum'] = [...(copy['enum'] as unknown[]), null];
};
