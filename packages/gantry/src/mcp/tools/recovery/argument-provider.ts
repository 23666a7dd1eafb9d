import type { Json } from '../../../kernel/json.ts';
import type { JsonSchema } from '../../../tool/registration.ts';

/** An argument that a server missed although its schema does not ask for it. */
export interface MissingArgument {
  readonly server: string;
  readonly tool: string;
  readonly field: string;
  /** The tool's own schema. */
  readonly schema: JsonSchema;
}

/** Knows the value of some arguments; undefined leaves it to the next. */
export type ArgumentProvider = (missing: MissingArgument) => Json | undefined | Promise<Json | undefined>;
