import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { flattenText } from '../../../text/flatten.ts';
import { truncateText } from '../../../text/truncate.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';
import { missingFieldIn } from '../../wire/missing-field.ts';

const maxSchemaChars = 6_000;

/**
 * What a tool's error says too little about: which arguments do not fit the tool's schema. Only what is certain is said; an error on
 * arguments that fit gets no hint.
 *
 * @param text what the tool said.
 */
export const argumentHint = (tool: DownstreamTool, args: JsonObject, text: string): string | undefined =>
  keyHint(tool, args, text) ?? typeHint(tool, args) ?? refusalHint(tool, text) ?? bareErrorHint(tool, text);

const keyHint = (tool: DownstreamTool, args: JsonObject, text: string): string | undefined => {
  const { properties, required } = tool.inputSchema;
  const sent = Object.keys(args);
  const needed = Array.isArray(required) ? required.filter((key): key is string => typeof key === 'string') : [];
  const missing = needed.filter((key) => !Object.hasOwn(args, key));
  const unknown = isObject(properties) ? sent.filter((key) => !Object.hasOwn(properties, key)) : [];
  if (missing.length === 0 && unknown.length === 0) return undefined;
  // The server has said it itself, in words that are understood further on.
  const named = missingFieldIn(text);
  if (unknown.length === 0 && named !== undefined && missing.includes(named)) return undefined;
  const facts = [
    missing.length > 0 ? `Missing required arguments: ${listed(missing)}.` : '',
    unknown.length > 0 ? `Unrecognised arguments: ${listed(unknown)}.` : '',
    `Sent: ${sent.length > 0 ? listed(sent) : 'none'}.`,
  ];
  return `${facts.filter(Boolean).join(' ')} ${schemaOf(tool)}`;
};

const typeHint = ({ inputSchema }: DownstreamTool, args: JsonObject): string | undefined => {
  const { properties } = inputSchema;
  if (!isObject(properties)) return undefined;
  for (const [key, value] of Object.entries(args)) {
    const declared = Object.hasOwn(properties, key) && isObject(properties[key]) ? properties[key]['type'] : undefined;
    const types = typesOf(declared);
    if (value === undefined || value === null || types.length === 0 || types.some((type) => fits(type, value)))
      continue;
    return `"${shown(key)}" is declared as ${types.join(' or ')} but you sent ${kindOf(value)}.`;
  }
  return undefined;
};

const refusalHint = (tool: DownstreamTool, text: string): string | undefined =>
  /Invalid arguments for tool|-32602|validation error for/i.test(text) ? schemaOf(tool) : undefined;

const bareErrorHint = (tool: DownstreamTool, text: string): string | undefined =>
  text.trim() === `An error occurred invoking '${tool.name}'.`
    ? `The server gives no reason. If the arguments may be at fault, compare them with the schema. ${schemaOf(tool)}`
    : undefined;

const knownTypes: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);

const typesOf = (declared: unknown): string[] => {
  const types: unknown[] = Array.isArray(declared) ? declared : [declared];
  return types.every((type) => knownTypes.has(type)) ? (types as string[]) : [];
};

const fits = (type: string, value: unknown): boolean => {
  switch (type) {
    case 'integer':
      return Number.isInteger(value);
    case 'array':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
    default:
      return typeof value === type;
  }
};

const kindOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a number';
  return `a ${typeof value}`;
};

const schemaOf = ({ inputSchema }: DownstreamTool): string =>
  `The tool's input schema: ${truncateText(JSON.stringify(inputSchema), maxSchemaChars)}`;

const listed = (keys: readonly string[]): string =>
  keys
    .slice(0, 30)
    .map((key) => `"${shown(key)}"`)
    .join(', ');

const shown = (key: string): string => flattenText(key, { maxChars: 100 });
