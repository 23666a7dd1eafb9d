import type { JsonObject } from '../kernel/json.ts';
import type { Log } from '../kernel/log.ts';
import { parseArguments } from '../text/parse-arguments.ts';
import type { CallContext } from '../tool/context.ts';
import type { ToolCall } from '../tool/executor.ts';
import { isOpaqueId } from '../tool/opaque-ids.ts';
import type { ToolRegistration } from '../tool/registration.ts';

/** A call whose ids stand for what is behind them, and what the model had written. */
export interface ResolvedCall {
  readonly call: ToolCall;
  /** By key `__original_{name of the argument}`; undefined when nothing was resolved. */
  readonly originals: JsonObject | undefined;
}

/** The arguments that hold ids. */
const keys: readonly string[] = ['media_id', 'message_id', 'end_message_id'];

/**
 * Puts in the place of ids that the turn has issued what they stand for. One that it did not issue stays as it is, for the tool to report:
 * guessing what an id of another turn meant would act on something else.
 */
export const resolveIds = (call: ToolCall, { ids }: CallContext, log: Log): ResolvedCall => {
  const untouched = { call, originals: undefined };
  if (!ids) return untouched;
  const parsed = parseArguments(call.arguments);
  if (!parsed.ok) return untouched;
  const resolved: Record<string, string> = {};
  const originals: Record<string, string> = {};
  for (const key of keys) {
    const given = parsed.value[key];
    if (!isOpaqueId(given)) continue;
    const value = ids.resolve(given);
    if (value === undefined) {
      log.warn({ tool: call.name, argument: key, id: given }, 'an id in a call was not issued in its turn');
      continue;
    }
    resolved[key] = value;
    originals[`__original_${key}`] = given;
  }
  if (Object.keys(resolved).length === 0) return untouched;
  return { call: { ...call, arguments: { ...parsed.value, ...resolved } }, originals };
};

/** The arguments that a tool runs with. Servers get their own only: what they do not know they may refuse. */
export const withOriginals = (
  checked: JsonObject,
  originals: JsonObject | undefined,
  { source }: ToolRegistration,
): JsonObject => (originals === undefined || source.startsWith('mcp:') ? checked : { ...checked, ...originals });
