import type { JsonObject } from '../kernel/json.ts';
import type { CallContext } from './context.ts';
import type { Outcome } from './outcome.ts';
import type { ToolRegistration } from './registration.ts';

/** A request to run a tool, as a caller makes it. */
export interface ToolCall {
  readonly name: string;
  /** JSON text as a model wrote it, or the object itself; absent means no arguments. */
  readonly arguments?: string | JsonObject | undefined;
  /** Correlates call and result; made when absent. */
  readonly id?: string | undefined;
}

/** A call that has been looked up, parsed, repaired and validated. */
export interface PreparedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly registration: ToolRegistration;
}

/** One argument fault: where it is (`a.b[2]`, empty for the whole) and what is wrong. */
export interface ArgumentFault {
  readonly path: string;
  readonly problem: string;
}

/** The outcome of a tool's own argument check; the value may differ from what came (defaults, transforms). */
export type ArgumentCheck =
  | { readonly ok: true; readonly value: JsonObject }
  | { readonly ok: false; readonly faults: readonly ArgumentFault[] };

/** Runs a tool: here, or over the bus. */
export interface ToolExecutor {
  /**
   * Runs the call. May throw a GantryError (or anything): the invoker turns it into a failed outcome. Must stop when
   * `context.signal` aborts.
   */
  execute(call: PreparedCall, context: CallContext): Promise<Outcome>;
  /** Checks arguments in place of the invoker's JSON Schema validation; for tools that own a richer schema. */
  readonly checkArguments?: ((value: JsonObject) => ArgumentCheck | Promise<ArgumentCheck>) | undefined;
  /** The tool's own limit, milliseconds; 0 means that the executor keeps the time itself. Default: the invoker's. */
  readonly timeoutMs?: number | undefined;
}

/** A registration and what runs it. */
export interface Tool {
  readonly registration: ToolRegistration;
  readonly executor: ToolExecutor;
}
