import type { ClientCapabilities } from '@modelcontextprotocol/client';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Progress, TraceContext } from '../../../tool/context.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';
import { noSdkTimeoutMs } from '../connection/sdk.ts';
import { rawResult } from '../connection/watch-transport.ts';
import type { Snapshot } from '../server/managed-server.ts';
import { mirrorsArguments } from '../surface/mirrored-headers.ts';
import type { CallBudget } from './call-budget.ts';
import type { RoundParams } from './rounds.ts';

/** Sends `tools/call`, or its next round, and resolves with the result as the server wrote it, whatever its shape. */
export const sendCall = async (
  { connection }: Snapshot,
  tool: DownstreamTool,
  args: JsonObject,
  options: {
    readonly budget: CallBudget;
    /** Gives the request up; default that of the budget. */
    readonly signal?: AbortSignal | undefined;
    readonly trace: TraceContext | undefined;
    readonly onProgress: (progress: Progress) => void;
    readonly round?: RoundParams | undefined;
    /** What the client can do, for this request alone; default what the connection says. Servers of the older protocol are not told. */
    readonly capabilities?: ClientCapabilities | undefined;
  },
): Promise<unknown> => {
  const { budget, trace, round, capabilities } = options;
  const meta = {
    ...(trace && toTraceMeta(trace)),
    ...(capabilities && connection.isModern && { [capabilitiesKey]: capabilities }),
  };
  const params = {
    name: tool.name,
    arguments: args as Record<string, unknown>,
    ...round,
    ...(Object.keys(meta).length > 0 && { _meta: meta }),
  };
  const requestOptions = {
    signal: options.signal ?? budget.signal,
    timeout: noSdkTimeoutMs,
    // Given always: it makes the SDK send a token that is unique on the connection, without which a server cannot report.
    onprogress: (progress: Progress): void => {
      budget.progressed();
      options.onProgress(progress);
    },
  };
  if (!connection.isModern || !isMirrored(tool))
    return await connection.client.request({ method: 'tools/call', params }, rawResult, requestOptions);
  // Only this way the SDK sends the `Mcp-Param-*` headers that the schema asks for; without an output schema it checks nothing more.
  const { value } = rawResult['~standard'].validate(
    await connection.client.callTool(params, {
      ...requestOptions,
      toolDefinition: { name: tool.name, inputSchema: tool.inputSchema as { type: 'object' } },
    }),
  ) as { value: unknown };
  return value;
};

/** Key of `_meta`: requests carry the capabilities of their client (MCP 2026-07-28). */
export const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities' as const;

/** The parameters of `tools/call` before there were rounds and capabilities in it. */
export const paramsOf = (tool: DownstreamTool, args: JsonObject, trace: TraceContext | undefined): JsonObject => ({
  name: tool.name,
  arguments: args,
  ...(trace && { _meta: toTraceMeta(trace) }),
});

const toTraceMeta = ({ traceparent, tracestate }: TraceContext): JsonObject =>
  tracestate === undefined ? { traceparent } : { traceparent, tracestate };

const mirroring = new WeakMap<DownstreamTool, boolean>();

const isMirrored = (tool: DownstreamTool): boolean => {
  let mirrors = mirroring.get(tool);
  if (mirrors === undefined) {
    mirrors = mirrorsArguments(tool.inputSchema);
    mirroring.set(tool, mirrors);
  }
  return mirrors;
};
