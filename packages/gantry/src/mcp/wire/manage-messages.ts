import type { JsonObject } from '../../kernel/json.ts';
import type { JsonSchema, ToolAnnotations } from '../../tool/registration.ts';

/** Requests on `mcp.manage`, by message type. The answer comes on `replyTo` with the same correlation id. */
export const manageMessageTypes = {
  getDetails: 'McpGetServiceDetails',
  details: 'McpServiceDetails',
  error: 'McpManageError',
} as const;

/** Asks for a server's identity, tools and prompts. */
export interface GetServiceDetails {
  readonly serverName: string;
  /** Only this tool. */
  readonly toolName?: string | undefined;
}

/** A downstream tool with its schemas exactly as the server gave them. */
export interface DownstreamTool {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  readonly icons?: readonly JsonObject[] | undefined;
  readonly _meta?: JsonObject | undefined;
}

/** A downstream prompt. */
export interface DownstreamPrompt {
  readonly name: string;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly arguments: readonly {
    readonly name: string;
    readonly description?: string | undefined;
    readonly required: boolean;
  }[];
}

/** What a server says of itself. */
export interface ServerIdentity {
  readonly name: string;
  readonly id: string;
  readonly implementationName?: string | undefined;
  readonly title?: string | undefined;
  readonly version?: string | undefined;
  readonly description?: string | undefined;
  readonly instructions?: string | undefined;
}

/** The answer to {@link GetServiceDetails}. */
export interface ServiceDetails {
  readonly server: ServerIdentity;
  readonly tools: readonly DownstreamTool[];
  readonly prompts: readonly DownstreamPrompt[];
}

/** The answer to a management request that failed; the text is for whoever asked, often a model. */
export interface ManageError {
  readonly error: string;
}
