import { GantryError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { isObject } from '../kernel/json.ts';
import type { CallContext } from './context.ts';
import type { ToolFamily } from './tool-family.ts';

/** A JSON Schema object. */
export type JsonSchema = JsonObject;

/** MCP's hints about a tool. Unknown is the safe reading of an absent hint. */
export interface ToolAnnotations {
  readonly title?: string | undefined;
  readonly readOnlyHint?: boolean | undefined;
  readonly destructiveHint?: boolean | undefined;
  readonly idempotentHint?: boolean | undefined;
  readonly openWorldHint?: boolean | undefined;
}

/** What a tool needs of the turn it is offered in; nothing named means it is available everywhere. */
export interface ToolRequirements {
  /** Model providers (lower-case) that may or may not get the tool. */
  readonly providers?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] } | undefined;
  /** Model capability flags and the value each must have; a flag the turn does not know counts as false. */
  readonly modelCapabilities?: Readonly<Record<string, boolean>> | undefined;
  /** A feature flag that must be on; an unknown flag is off. */
  readonly featureFlag?: string | undefined;
  /**
   * Platform permissions that must be granted where the surface has a permission model, by the names that hold outside of threads: in one,
   * `SEND_MESSAGES` asks for `SEND_MESSAGES_IN_THREADS`.
   */
  readonly permissions?: readonly string[] | undefined;
}

/** A named capability as the registry keeps it. Frozen when registered. */
export interface ToolRegistration {
  readonly name: string;
  /** Earlier names under which it is still found and called, as stored schedules, skills and conversations do; never listed. */
  readonly aliases?: readonly string[] | undefined;
  /** What the tool does, for the model that chooses it. */
  readonly description: string;
  /** Where it comes from: `web`, `mcp:management`, `mcp:{server}` … */
  readonly source: string;
  /** JSON Schema of the arguments; default an empty object schema. */
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly title?: string | undefined;
  readonly category?: string | undefined;
  /** The server and the server's own tool name behind a typed tool. Routing uses this, never the typed name. */
  readonly target?: { readonly server: string; readonly tool: string } | undefined;
  /** The server and the server's own prompt behind a typed prompt. */
  readonly promptOf?: { readonly server: string; readonly prompt: string } | undefined;
  readonly requires?: ToolRequirements | undefined;
  /** Says whether this caller may have the tool now; a check that throws hides the tool. */
  readonly available?: ((context: CallContext) => boolean) | undefined;
  /** Fits the tool to the turn: itself, a changed copy, or null to hide it. Name and category stay. */
  readonly assemble?: ((context: CallContext) => ToolRegistration | null) | undefined;
  /** Servers of this family take its place: while one does, only operators have the tool. */
  readonly family?: ToolFamily | undefined;
  /** Its results were stored before (working memory); they are never split and stored again. Default false. */
  readonly returnsStored?: boolean | undefined;
  /**
   * `false`: when the model has written its answer beside calls of such tools only, and all succeeded, the turn is over, and the model is not
   * asked again to see their results. Default true. Of no effect for tools of MCP servers.
   */
  readonly requiresFollowUp?: boolean | undefined;
}

/** What a caller writes: all but name, description and source is optional. */
export type ToolDefinition = Omit<ToolRegistration, 'inputSchema'> & { readonly inputSchema?: JsonSchema | undefined };

/** The schema of a tool without parameters. */
export const emptyInputSchema: JsonSchema = Object.freeze({ type: 'object', properties: Object.freeze({}) });

/**
 * Checks a definition against the contract and completes it.
 * @throws {GantryError} `invalid_registration` naming the tool and what is wrong with it.
 */
export const toRegistration = (definition: ToolDefinition): ToolRegistration => {
  const problem = problemOf(definition);
  if (problem !== undefined) {
    const name = isObject(definition) && typeof definition.name === 'string' ? definition.name : undefined;
    throw new GantryError('invalid_registration', `Tool ${name ? `"${name}"` : '(without a name)'}: ${problem}.`, {
      details: { name, problem },
    });
  }
  return Object.freeze({ ...definition, inputSchema: definition.inputSchema ?? emptyInputSchema });
};

const problemOf = (definition: unknown): string | undefined => {
  if (!isObject(definition)) return 'a registration object is needed';
  for (const key of ['name', 'description', 'source'] as const) {
    const value = definition[key];
    if (typeof value !== 'string' || value.trim() === '') return `${key} must be a text that is not blank`;
  }
  const { aliases = [] } = definition;
  if (!Array.isArray(aliases) || aliases.some((alias) => typeof alias !== 'string' || alias.trim() === ''))
    return 'aliases must be a list of names';
  const schema = definition['inputSchema'];
  if (schema === undefined) return undefined;
  if (!isObject(schema)) return 'inputSchema must be a JSON Schema object';
  if (schema['required'] !== undefined && !Array.isArray(schema['required']))
    return 'inputSchema.required must be a list';
  return undefined;
};
