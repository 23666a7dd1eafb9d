import { isObject } from '../../../kernel/json.ts';
import { flattenText } from '../../../text/flatten.ts';
import { encodedHeader } from '../../wire/header-value.ts';

const keyword = 'x-mcp-header';

/** Whether a schema asks for arguments in headers of the request (`x-mcp-header`, MCP 2026-07-28, SEP-2243). */
export const mirrorsArguments = (inputSchema: unknown): boolean => JSON.stringify(inputSchema).includes(`"${keyword}"`);

// Keywords that hold one schema, a list of schemas, or schemas by name. Data, such as that of `const` or `examples`, is not looked at.
const single = [
  'items',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'unevaluatedItems',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
];
const listed = ['prefixItems', 'oneOf', 'anyOf', 'allOf'];
const named = ['patternProperties', 'dependentSchemas', '$defs', 'definitions'];

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const mirroredTypes: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);

/**
 * What is wrong with the headers a schema asks for; undefined when nothing is. A tool that asks wrongly must not be called over HTTP: the
 * name is empty or no token of RFC 9110, two names differ in case alone, the argument is no text, whole number or boolean, or it is not
 * reached from the root by `properties` alone.
 */
export const headerProblem = (inputSchema: unknown): string | undefined => {
  const seen = new Set<string>();
  const visit = (schema: unknown, isReachable: boolean): string | undefined => {
    if (!isObject(schema)) return undefined;
    const header = schema[keyword];
    if (header !== undefined) {
      if (typeof header !== 'string' || !token.test(header)) return `${shown(header)} is no name of a header`;
      if (!isReachable) return `${shown(header)} is asked for where the argument may not be`;
      if (!mirroredTypes.has(schema['type']))
        return `${shown(header)} is asked for a value of type ${shown(schema['type'])}`;
      if (seen.has(header.toLowerCase())) return `${shown(header)} is asked for twice`;
      seen.add(header.toLowerCase());
    }
    return (
      firstOf(valuesOf(schema['properties']), (child) => visit(child, isReachable)) ??
      firstOf(
        [
          ...single.map((key) => schema[key]),
          // A list of schemas was how drafts before 2020-12 wrote `prefixItems`.
          ...['items', ...listed].flatMap((key) => (Array.isArray(schema[key]) ? (schema[key] as unknown[]) : [])),
          ...named.flatMap((key) => valuesOf(schema[key])),
        ],
        (child) => visit(child, false),
      )
    );
  };
  if (!mirrorsArguments(inputSchema)) return undefined;
  if (isObject(inputSchema) && keyword in inputSchema) return 'a header is asked for all arguments together';
  return visit(inputSchema, true);
};

/** The headers that a call of a tool with this schema has beside its arguments; a value that is not there or no such value has none. */
export const parameterHeaders = (inputSchema: unknown, args: unknown): Record<string, string> => {
  const headers: Record<string, string> = {};
  const visit = (schema: unknown, value: unknown): void => {
    if (!isObject(schema) || value === undefined || value === null) return;
    const header = schema[keyword];
    const text = typeof header === 'string' ? headerText(value) : undefined;
    if (text !== undefined) headers[`mcp-param-${String(header).toLowerCase()}`] = encodedHeader(text);
    if (!isObject(schema['properties']) || !isObject(value)) return;
    for (const [name, child] of Object.entries(schema['properties']))
      if (Object.hasOwn(value, name)) visit(child, value[name]);
  };
  if (mirrorsArguments(inputSchema) && headerProblem(inputSchema) === undefined) visit(inputSchema, args);
  return headers;
};

const headerText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return Number.isSafeInteger(value) ? String(value) : undefined;
};

const valuesOf = (value: unknown): readonly unknown[] => (isObject(value) ? Object.values(value) : []);

const firstOf = (items: readonly unknown[], find: (item: unknown) => string | undefined): string | undefined => {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
};

const shown = (value: unknown): string =>
  typeof value === 'string'
    ? `"${flattenText(value, { maxChars: 60 })}"`
    : flattenText(JSON.stringify(value) ?? 'none', { maxChars: 60 });
