import type { CallToolResult } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Invoker } from '../../invoke/invoker.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { CallContext, Progress, TraceContext } from '../../tool/context.ts';
import type { JsonSchema } from '../../tool/registration.ts';
import type { Toolsets } from '../../toolset/toolset.ts';
import { toCallToolResult } from './call-result.ts';
import type { AdmitCall } from './admit-call.ts';
import type { FirstTools } from './first-tools.ts';
import { untilCallable } from './first-tools.ts';
import type { Visitor } from './visitor.ts';
import { contextOf } from './visitor.ts';

/** A `tools/call` as it came. */
export interface ClientCall {
  readonly name: string;
  readonly arguments?: JsonObject | undefined;
  readonly meta?: Readonly<Record<string, unknown>> | undefined;
  readonly signal: AbortSignal;
  /** Sends `notifications/progress` with these parameters. */
  readonly notify: (params: ProgressParams) => void;
  /** What the client can be asked for, and what asks it. */
  readonly asking?: Required<Pick<CallContext, 'asks' | 'onAsked'>> | undefined;
}

/** The parameters of `notifications/progress`. */
export type ProgressParams = { readonly progressToken: string | number } & Progress;

/** The result of a call and the schema that was promised for its structured value. */
export interface CallAnswer {
  readonly result: CallToolResult;
  readonly outputSchema: JsonSchema | undefined;
}

/**
 * Makes a client's call through the invoker.
 * @throws {ProtocolError} invalid params when the client may call no tool of that name (MCP 2025-11-25 and 2026-07-28, "Error
 * handling"); everything later is a result.
 */
export const callTool = async (
  parts: {
    readonly toolsets: Toolsets;
    readonly invoker: Invoker;
    readonly firstTools: Pick<FirstTools, 'pendingForCalls'>;
    readonly admit?: AdmitCall | undefined;
  },
  visitor: Visitor,
  call: ClientCall,
): Promise<CallAnswer> => {
  const context: CallContext = {
    ...contextOf(visitor),
    trace: traceOf(call.meta),
    signal: call.signal,
    onProgress: progressOf(call),
    ...call.asking,
  };
  const { toolsets, invoker, firstTools } = parts;
  const admitted = await parts.admit?.(visitor.client);
  if (admitted && 'refusal' in admitted)
    return { result: { content: [{ type: 'text', text: admitted.refusal }], isError: true }, outputSchema: undefined };
  using _running = admitted;
  await untilCallable(firstTools, () => toolsets.find(call.name, context) !== undefined);
  const outcome = await invoker.invoke({ name: call.name, arguments: call.arguments }, context);
  const registration = toolsets.find(call.name, context)?.registration;
  if (outcome.status === 'failed' && outcome.failure.code === 'tool_not_found' && !registration)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, outcome.failure.message);
  return { result: toCallToolResult(outcome, registration), outputSchema: registration?.outputSchema };
};

const traceOf = (meta: ClientCall['meta']): TraceContext | undefined => {
  const { traceparent, tracestate } = meta ?? {};
  if (typeof traceparent !== 'string') return undefined;
  return { traceparent, tracestate: typeof tracestate === 'string' ? tracestate : undefined };
};

const progressOf = ({ meta, notify }: ClientCall): ((progress: Progress) => void) | undefined => {
  const progressToken = meta?.['progressToken'];
  if (typeof progressToken !== 'string' && typeof progressToken !== 'number') return undefined;
  return ({ progress, total, message }) =>
    notify({
      progressToken,
      progress,
      ...(total !== undefined && { total }),
      ...(message !== undefined && { message }),
    });
};
