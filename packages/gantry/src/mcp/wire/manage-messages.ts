import type { JsonObject } from '../../kernel/json.ts';
import type { ToolReply } from '../../tool/messages.ts';
import type { JsonSchema, ToolAnnotations } from '../../tool/registration.ts';

/** Requests on `mcp.manage` and their answers, by message type. The answer comes on `replyTo` with the same correlation id. */
export const manageMessageTypes = {
  getDetails: 'McpGetServiceDetails',
  details: 'McpServiceDetails',
  registerServer: 'McpRegisterServer',
  serverRegistered: 'McpServerRegistered',
  unregisterServer: 'McpUnregisterServer',
  serverUnregistered: 'McpServerUnregistered',
  getPrompt: 'McpGetPrompt',
  prompt: 'McpPrompt',
  listResources: 'McpListResources',
  resources: 'McpResources',
  readResource: 'McpReadResource',
  resource: 'McpResource',
  answerQuestion: 'McpAnswerQuestion',
  answered: 'McpAnswered',
  cancelTask: 'McpCancelTask',
  taskCancelled: 'McpTaskCancelled',
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
  readonly resourceCount: number;
  readonly resourceTemplateCount: number;
}

/** Asks for a new server on behalf of a model: an HTTP server, owned by the agent. */
export interface RegisterServer {
  readonly name: string;
  readonly type: 'sse';
  readonly url: string;
}

/** The answer to {@link RegisterServer}: the entry is in the file, connected or not. */
export interface ServerRegistered {
  readonly serverName: string;
  readonly connected: boolean;
  readonly toolCount: number;
  /** One sentence for the model; says so when the connection failed. */
  readonly message: string;
}

/** Asks to remove a server that a model registered. */
export interface UnregisterServer {
  readonly serverName: string;
}

/** The answer to {@link UnregisterServer}. */
export interface ServerUnregistered {
  readonly serverName: string;
  /** One sentence for the model. */
  readonly message: string;
}

/** Asks for a prompt, filled in. */
export interface GetPrompt {
  readonly serverName: string;
  readonly promptName: string;
  /** Values that are not texts are passed as their JSON text. */
  readonly arguments?: JsonObject | undefined;
}

/** One message of a prompt; content that is not text stands as its JSON text. */
export interface PromptMessage {
  readonly role: string;
  readonly content: string;
  readonly contentType: string;
}

/** The answer to {@link GetPrompt}. */
export interface FilledPrompt {
  readonly serverName: string;
  readonly promptName: string;
  readonly messages: readonly PromptMessage[];
}

/** Asks which resources a server has. */
export interface ListResources {
  readonly serverName: string;
}

/** What is said of a resource or a template beside its address. */
export interface ResourceDescription {
  readonly name?: string | undefined;
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly size?: number | undefined;
}

/** A resource that a server lists. */
export interface ListedResource extends ResourceDescription {
  readonly uri: string;
}

/** A family of resources: RFC 6570. */
export interface ListedResourceTemplate extends ResourceDescription {
  readonly uriTemplate: string;
}

/** The answer to {@link ListResources}; both lists are empty when the server has none. */
export interface ResourceList {
  readonly server: string;
  readonly resources: readonly ListedResource[];
  readonly templates: readonly ListedResourceTemplate[];
}

/** Asks for the contents of a resource. */
export interface ReadResource {
  readonly serverName: string;
  readonly uri: string;
}

/** Contents of a resource: short text as it is; long text and bytes as a file in the shared folder. */
export type ResourceContents =
  | { readonly uri: string; readonly mimeType?: string | undefined; readonly text: string }
  | {
      readonly uri: string;
      readonly mimeType?: string | undefined;
      /** In the shared folder. */
      readonly path: string;
      /** In bytes. */
      readonly size: number;
    };

/** The answer to {@link ReadResource}. */
export interface ReadResourceResult {
  readonly server: string;
  readonly uri: string;
  readonly contents: readonly ResourceContents[];
}

/** Answers or declines a question that was handed back to a session. */
export interface AnswerQuestion {
  readonly questionId: string;
  /** Values by field name: an object, or its JSON text. */
  readonly answers?: unknown;
  readonly decline?: boolean | undefined;
  /** The session that answers. */
  readonly sessionId?: string | undefined;
  readonly toolCallId: string;
}

/** The answer to {@link AnswerQuestion}: how the call went on. */
export interface QuestionAnswered {
  /** The server whose call went on. */
  readonly server: string;
  readonly reply: ToolReply;
}

/** Cancels a background task of a session. */
export interface CancelTask {
  readonly taskId: string;
  readonly sessionId?: string | undefined;
}

/** The answer to {@link CancelTask}. */
export interface TaskCancelled {
  /** One sentence for the model. */
  readonly message: string;
}

/** The answer to a management request that failed; the text is for whoever asked, often a model. */
export interface ManageError {
  readonly error: string;
}
