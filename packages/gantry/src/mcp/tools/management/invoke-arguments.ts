import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { parseArguments } from '../../../text/parse-arguments.ts';
import type { JsonSchema } from '../../../tool/registration.ts';

const wrappers = ['arguments', 'params', 'args'] as const;
const own = new Set(['server_name', 'tool_name']);

/**
 * The arguments that a call of `mcp_invoke_tool` means for the tool behind it: the object under `arguments`, `params` or `args`; where there
 * is none, what stands beside the two names.
 */
export const toInvokeArguments = (args: JsonObject, schema: JsonSchema | undefined): JsonObject => {
  for (const key of wrappers) {
    const value = args[key];
    // A tool may have a parameter of that name itself.
    if (key !== 'arguments' && hasProperty(schema, key)) continue;
    if (isObject(value)) return value;
    if (typeof value !== 'string') continue;
    const parsed = parseArguments(value);
    if (parsed.ok) return parsed.value;
  }
  return Object.fromEntries(Object.entries(args).filter(([key]) => !own.has(key) && key !== 'arguments'));
};

const hasProperty = (schema: JsonSchema | undefined, key: string): boolean =>
  isObject(schema?.['properties']) && Object.hasOwn(schema['properties'], key);
