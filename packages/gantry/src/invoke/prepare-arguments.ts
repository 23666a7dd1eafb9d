import { GantryError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import type { SchemaValidator } from '../schema/validate.ts';
import { describeFaults } from '../schema/faults.ts';
import { parseArguments } from '../text/parse-arguments.ts';
import { repairArguments } from '../text/repair-arguments.ts';
import type { ArgumentCheck, ArgumentFault, Tool, ToolCall } from '../tool/executor.ts';

/**
 * Makes the arguments of a call ready for the tool: parsed and, where the caller's row in the table says so, repaired and
 * validated by the tool's own schema.
 * @throws {GantryError} `invalid_arguments` with a message that says what to send.
 */
export type PrepareArguments = (tool: Tool, call: ToolCall, checked: boolean) => Promise<JsonObject>;

/**
 * Prepares with the given JSON Schema validator. What fits the schema as it came is never touched; only what does not
 * is repaired, once, and then the schema decides.
 */
export const createPrepareArguments = (validator: SchemaValidator): PrepareArguments => {
  const checkByJsonSchema = (tool: Tool, value: JsonObject): ArgumentCheck => {
    const faults = validator.validate(tool.registration.inputSchema, value);
    return faults.length === 0 ? { ok: true, value } : { ok: false, faults };
  };
  const check = (tool: Tool, value: JsonObject): ArgumentCheck | Promise<ArgumentCheck> =>
    tool.executor.checkArguments ? tool.executor.checkArguments(value) : checkByJsonSchema(tool, value);

  // A tool's own schema may know more than its JSON Schema, but the latter's faults are written for a model.
  const describe = (tool: Tool, value: JsonObject, own: readonly ArgumentFault[]): string => {
    const { inputSchema } = tool.registration;
    const faults = validator.validate(inputSchema, value);
    return faults.length > 0
      ? describeFaults(faults, { schema: inputSchema })
      : own.map(({ path, problem }) => (path === '' ? problem : `"${path}": ${problem}`)).join('; ');
  };

  return async (tool, call, checked) => {
    const parsed = parseArguments(call.arguments);
    if (!parsed.ok) throw refusal(call, parsed.reason, []);
    if (!checked) return parsed.value;
    const first = await check(tool, parsed.value);
    if (first.ok) return first.value;
    const repaired = repairArguments(parsed.value, tool.registration.inputSchema);
    const second = repaired === parsed.value ? first : await check(tool, repaired);
    if (second.ok) return second.value;
    throw refusal(call, describe(tool, repaired, second.faults), second.faults);
  };
};

/** Names the tool as the call does, because its other name may be none that this caller can call. */
const refusal = ({ name }: ToolCall, text: string, faults: readonly ArgumentFault[]): GantryError =>
  new GantryError('invalid_arguments', `Tool "${name}" was not called: ${text}`, { details: { tool: name, faults } });
