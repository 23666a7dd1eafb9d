import type { Json, JsonObject } from '../../../kernel/json.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { PreparedCall, Tool } from '../../../tool/executor.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { textOutcome } from '../../../tool/outcome.ts';
import type { ToolAnnotations } from '../../../tool/registration.ts';
import { toRegistration } from '../../../tool/registration.ts';

/** Source of the tools that manage servers. */
export const managementSource = 'mcp:management';

/** A tool that manages servers, as its file writes it. */
export interface ManagementToolSpec {
  readonly name: string;
  readonly description: string;
  readonly properties?: JsonObject | undefined;
  readonly required?: readonly string[] | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** As `ToolExecutor.timeoutMs`. */
  readonly timeoutMs?: number | undefined;
  /** As `ToolRegistration.available`. */
  readonly available?: ((context: CallContext) => boolean) | undefined;
  /** Gives a text, an outcome, or anything else, which is told as compact JSON. */
  readonly execute: (args: JsonObject, context: CallContext, call: PreparedCall) => Promise<string | Outcome | Told>;
}

/** A value that is told as JSON, with lines for the reader behind it. */
export interface Told {
  readonly value: unknown;
  readonly notes?: readonly string[] | undefined;
}

/** Makes the tool. */
export const managementTool = (spec: ManagementToolSpec): Tool => {
  const { name, description, properties = {}, required = [], annotations, timeoutMs, available, execute } = spec;
  return {
    registration: toRegistration({
      name,
      description,
      source: managementSource,
      annotations,
      available,
      inputSchema: Object.freeze({ type: 'object', properties, ...(required.length > 0 && { required }) }),
    }),
    executor: {
      timeoutMs,
      execute: async (call, context) => {
        const result = await execute(call.arguments, context, call);
        if (typeof result === 'string') return textOutcome(result);
        return 'status' in result ? result : told(result);
      },
    },
  };
};

const told = ({ value, notes = [] }: Told): Outcome => ({
  status: 'done',
  parts: [JSON.stringify(value), ...notes].map((text) => ({ type: 'text', text })),
});

/** An argument that is a text, without the blanks around it; empty when it is absent. */
export const textArgument = (args: JsonObject, key: string): string => {
  const value = args[key];
  return typeof value === 'string' ? value.trim() : '';
};

/** The `server_name` parameter. */
export const serverNameSchema: Json = {
  type: 'string',
  description: "The server's name, as mcp_list_services shows it.",
};

/**
 * Reads the name of a server that this caller may know of, lower-case.
 * @throws {GantryError} `server_unknown` for one that does not exist for it.
 */
export type ReadServerName = (args: JsonObject, context: CallContext) => string;
