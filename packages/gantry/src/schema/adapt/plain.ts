import { createHash } from 'node:crypto';
import { atPointer } from '../../kernel/json-pointer.ts';
import { isObject } from '../../kernel/json.ts';
import { mapSubschemas, type Schema } from '../subschemas.ts';
import type { Restore } from './shape.ts';

/** Keys as Anthropic takes them. */
const takenKey = /^[a-zA-Z0-9_.-]{1,64}$/;

/**
 * A schema in full JSON Schema, with what providers insist on filled in: object subschemas instead of booleans, `items` on arrays,
 * `properties` on objects. A property that admits nothing is left out. References to what the rewrite has removed become open.
 */
export const toPlain = (schema: Schema): Record<string, unknown> => {
  const plain = mapDeep(schema);
  return openDangling(plain, plain) as Record<string, unknown>;
};

const mapDeep = (schema: unknown): Record<string, unknown> => {
  if (schema === false) return { not: {} };
  if (!isObject(schema)) return {};
  const { properties } = schema;
  const possible = isObject(properties)
    ? Object.fromEntries(Object.entries(properties).filter(([, member]) => member !== false))
    : properties;
  const closing = typeof schema['additionalProperties'] === 'boolean' ? schema['additionalProperties'] : undefined;
  const copy = mapSubschemas(possible === properties ? schema : { ...schema, properties: possible }, mapDeep);
  // Here a boolean is the usual form, and the only one that strict providers know.
  if (closing !== undefined) copy['additionalProperties'] = closing;
  const types = new Set([schema['type']].flat());
  if (types.has('array') && copy['items'] === undefined) copy['items'] = {};
  if (types.has('object') && copy['properties'] === undefined) copy['properties'] = {};
  return copy;
};

const openDangling = (schema: unknown, root: Schema): unknown => {
  if (!isObject(schema)) return schema;
  const reference = schema['$ref'];
  const isDangling =
    typeof reference === 'string' && reference.startsWith('#') && atPointer(root, reference) === undefined;
  const { $ref: _, ...rest } = schema;
  return mapSubschemas(isDangling ? rest : schema, (sub) => openDangling(sub, root));
};

/** Renames keys that Anthropic refuses (`$filter`, `user name`); the renamed ones carry a hash, so that they can be told and restored. */
export const withTakenKeys = (schema: Schema): { schema: Schema; restore?: Restore | undefined } => {
  const originals = new Map<string, string>();
  const sent = (key: string): string => {
    if (takenKey.test(key)) return key;
    const hash = createHash('sha256').update(key).digest('hex').slice(0, 8);
    const name = `${key.replaceAll(/[^a-zA-Z0-9_.-]/g, '_').slice(0, 48)}_${hash}`;
    originals.set(name, key);
    return name;
  };
  const rename = (sub: unknown): unknown => {
    if (!isObject(sub)) return sub;
    const copy = mapSubschemas(sub, rename);
    if (isObject(copy['properties']))
      copy['properties'] = Object.fromEntries(
        Object.entries(copy['properties']).map(([key, member]) => [sent(key), member]),
      );
    if (Array.isArray(copy['required'])) copy['required'] = (copy['required'] as string[]).map(sent);
    return copy;
  };
  const renamed = rename(schema) as Schema;
  return originals.size === 0 ? { schema } : { schema: renamed, restore: (value) => restoreKeys(value, originals) };
};

const restoreKeys = (value: unknown, originals: ReadonlyMap<string, string>): unknown => {
  if (Array.isArray(value)) return value.map((item) => restoreKeys(item, originals));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [originals.get(key) ?? key, restoreKeys(member, originals)]),
  );
};
