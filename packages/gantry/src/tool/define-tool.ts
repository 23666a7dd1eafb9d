import type { StandardJSONSchemaV1 } from '@standard-schema/spec';
import type { Json } from '../kernel/json.ts';
import { isOutcome } from './checked-outcome.ts';
import type { CallContext } from './context.ts';
import type { PreparedCall, Tool } from './executor.ts';
import type { Outcome } from './outcome.ts';
import { textOutcome } from './outcome.ts';
import type { ToolDefinition } from './registration.ts';
import { toRegistration } from './registration.ts';
import type { InputSchema, OutputOf } from './standard-schema.ts';
import { checkWithSchema, toJsonSchema } from './standard-schema.ts';
import { toWritableOutcome } from './writable-outcome.ts';

/** What a tool's function may return: a text, an outcome, or any other JSON value, which becomes the structured result. */
export type ToolReturn = string | Outcome | Json | undefined;

/** What {@link defineTool} takes. */
export interface ToolSpec<Schema extends InputSchema> extends Omit<
  ToolDefinition,
  'inputSchema' | 'outputSchema' | 'source'
> {
  /** Where the tool comes from; default `local`. */
  readonly source?: string | undefined;
  /** Describes and checks the arguments; default no arguments. */
  readonly input?: Schema | undefined;
  /** Describes the structured result. */
  readonly output?: StandardJSONSchemaV1 | undefined;
  /** The tool's own limit, milliseconds; default the invoker's. */
  readonly timeoutMs?: number | undefined;
  /** Runs with checked, typed arguments. Throwing fails the call; return an outcome to say more. */
  readonly execute: (
    args: OutputOf<Schema>,
    context: CallContext,
    call: PreparedCall,
  ) => ToolReturn | Promise<ToolReturn>;
}

/**
 * Makes a tool from a schema and a function: the arguments are validated and typed by the schema.
 *
 * @example defineTool({ name: 'add', description: 'Adds.', input: z.strictObject({ a: z.number(), b: z.number() }), execute: ({ a, b }) => `${a + b}` })
 * @throws {GantryError} `invalid_registration` when name or description is blank, or the schema cannot be said in JSON Schema.
 */
export const defineTool = <Schema extends InputSchema>(spec: ToolSpec<Schema>): Tool => {
  const { input, output, execute, timeoutMs, source = 'local', ...rest } = spec;
  const subject = `Tool "${spec.name}"`;
  return {
    registration: toRegistration({
      ...rest,
      source,
      inputSchema: input && toJsonSchema(input, subject),
      outputSchema: output && toJsonSchema(output, subject, 'output'),
    }),
    executor: {
      execute: async (call, context) =>
        toWritableOutcome(toOutcome(await execute(call.arguments as OutputOf<Schema>, context, call))),
      checkArguments: input && ((value) => checkWithSchema(input, value)),
      timeoutMs,
    },
  };
};

const toOutcome = (value: ToolReturn): Outcome => {
  if (typeof value === 'string') return textOutcome(value);
  if (value === undefined) return { status: 'done', parts: [] };
  return isOutcome(value) ? value : { status: 'done', parts: [], structured: value };
};
