import type * as z from 'zod';
import type { Progress } from '../tool/context.ts';
import type { OperationDeps } from './operation-deps.ts';

/** How one run of an operation is steered. */
export interface RunOptions {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: Progress) => void) | undefined;
  /** Hears what happens while an operation runs that streams. */
  readonly onEvent?: ((event: OperationEvent) => void) | undefined;
}

/** Something that happens while an operation runs; all of it must be JSON. */
export interface OperationEvent {
  readonly type: string;
}

/**
 * Something a person can ask of Gantry. The HTTP API, its OpenAPI document and the command line are derived from it, so its
 * schemas are the contract of all three.
 */
export interface Operation<Input, Output> {
  /** Family and verb: `tools.list`. */
  readonly name: string;
  /** One line for documents and help. */
  readonly summary: string;
  /** What the summary has no room for. */
  readonly description?: string | undefined;
  /** `GET` takes its input from path and query, `POST` from path and JSON body. */
  readonly method: 'GET' | 'POST';
  /** Below the API's root; `{name}` stands for the input of that name: `/tools/{name}`. */
  readonly path: string;
  /** A strict object schema without transforms, so callers and handler share one type. */
  readonly input: z.ZodType<Input>;
  readonly output: z.ZodType<Output>;
  /** Tells events while it runs: besides its result, or it has no use without them. Over HTTP, as server-sent events. Default none. */
  readonly streams?: 'both' | 'only' | undefined;
  /** Runs with checked input. */
  handler(input: Input, deps: OperationDeps, options: RunOptions): Output | Promise<Output>;
}

/** The input of an operation that takes none. */
export type NoInput = Readonly<Record<string, never>>;

/** An operation whose types do not matter to the reader. */
export type AnyOperation = Operation<unknown, unknown>;

/** Defines an operation; the types come from its schemas. */
export const defineOperation = <Input, Output>(operation: Operation<Input, Output>): Operation<Input, Output> =>
  Object.freeze(operation);
