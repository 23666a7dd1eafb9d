/** Names of the headers that travel beside a message's body. */
export const messageHeaders = {
  /**
   * Who wrote the body: `system` (Gantry itself), `user-input` (a person), `tool-request` (arguments on their way to a tool),
   * `tool-output` (the outside world: reaches a model only as a tool result), `agent-message` (another agent).
   */
  contentTrust: 'gantry-content-trust',
  /** What kind of backend runs the tool, such as `mcp`. */
  toolProvider: 'gantry-tool-provider',
  /** How long the caller waits, milliseconds. */
  timeoutMs: 'gantry-timeout-ms',
  /** The caller's session namespace. */
  session: 'gantry-session',
  /** The caller's workspace. */
  workspace: 'gantry-workspace',
  /** The kind of caller. */
  caller: 'gantry-caller',
  /** Identity of the MCP client that calls. */
  client: 'gantry-client',
  /** Its connection, where its protocol has one. */
  connection: 'gantry-connection',
  /** `true` when the caller reads and writes the shared folder too. */
  sharesFolder: 'gantry-shares-folder',
  /** The model tier of the caller's run. */
  tier: 'gantry-tier',
  /** The server that an invoke is meant for. */
  mcpServer: 'gantry-mcp-server',
  /** `true` when the caller's run can answer a handed-back question. */
  mcpHandback: 'gantry-mcp-handback',
  /** What the MCP client that calls can be asked for, as JSON. */
  mcpAsks: 'gantry-mcp-asks',
  /** `true` when the caller's session can receive the late result of a task. */
  mcpTasks: 'gantry-mcp-tasks',
  /** W3C trace context. */
  traceparent: 'traceparent',
  /** W3C trace context, vendor part. */
  tracestate: 'tracestate',
} as const;
