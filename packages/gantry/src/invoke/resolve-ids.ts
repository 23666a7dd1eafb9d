import type { Json, JsonObject } from '../kernel/json.ts';
import type { Log } from '../kernel/log.ts';
import { parseArguments } from '../text/parse-arguments.ts';
import type { CallContext } from '../tool/context.ts';
import type { ToolCall } from '../tool/executor.ts';
import type { OpaqueIds } from '../tool/opaque-ids.ts';
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
/** The arguments under which a tool that calls another one by its name takes what to call it with; models write the later ones too. */
const passedOn: readonly string[] = ['arguments', 'params', 'args'];

/**
 * Puts in the place of ids that the turn has issued what they stand for, also in what is passed on to another tool. One that it did not issue
 * stays as it is, for the tool to report: guessing what an id of another turn meant would act on something else.
 */
export const resolveIds = (call: ToolCall, { ids }: CallContext, log: Log): ResolvedCall => {
  const untouched = { call, originals: undefined };
  if (!ids) return untouched;
  const parsed = parseArguments(call.arguments);
  if (!parsed.ok) return untouched;
  const onUnknown = (argument: string, id: string): void =>
    log.warn({ tool: call.name, argument, id }, 'an id in a call was not issued in its turn');
  const own = resolveIn(parsed.value, ids, onUnknown);
  const changed: Record<string, Json | undefined> = { ...own?.values };
  for (const key of passedOn) {
    const inner = parsed.value[key];
    const other = inner === undefined ? undefined : parseArguments(inner);
    const passed = other?.ok === true ? resolveIn(other.value, ids, onUnknown) : undefined;
    if (other?.ok === true && passed) changed[key] = { ...other.value, ...passed.values };
  }
  if (Object.keys(changed).length === 0) return untouched;
  return { call: { ...call, arguments: { ...parsed.value, ...changed } }, originals: own?.originals };
};

/** What the ids in arguments stand for, and the ids; undefined when nothing was resolved. */
const resolveIn = (
  args: JsonObject,
  ids: OpaqueIds,
  onUnknown: (argument: string, id: string) => void,
): { readonly values: JsonObject; readonly originals: JsonObject } | undefined => {
  const values: Record<string, string> = {};
  const originals: Record<string, string> = {};
  for (const key of keys) {
    const given = args[key];
    if (!isOpaqueId(given)) continue;
    const value = ids.resolve(given);
    if (value === undefined) {
      onUnknown(key, given);
      continue;
    }
    values[key] = value;
    originals[`__original_${key}`] = given;
  }
  return Object.keys(values).length === 0 ? undefined : { values, originals };
};

/** The arguments that a tool runs with. Servers get their own only: what they do not know they may refuse. */
export const withOriginals = (
  checked: JsonObject,
  originals: JsonObject | undefined,
  { source }: ToolRegistration,
): JsonObject => (originals === undefined || source.startsWith('mcp:') ? checked : { ...checked, ...originals });
