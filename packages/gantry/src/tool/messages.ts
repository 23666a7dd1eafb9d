/**
 * How calls and outcomes travel on the bus: a request, and exactly one reply, which is a response (the tool ran, `isError`
 * when it said so itself) or an error (five codes). Readers tell the replies apart by the envelope's message type.
 */
import type { Json, JsonObject } from '../kernel/json.ts';
import type { Attachment, ContextItem, FailureCode, Handle, Outcome, Part, ToolReport } from './outcome.ts';
import { outcomeText } from './outcome-text.ts';
import { toWritableOutcome } from './writable-outcome.ts';

/** Message types of the envelopes that carry calls and outcomes. */
export const toolMessageTypes = {
  request: 'ToolInvokeRequest',
  response: 'ToolInvokeResponse',
  error: 'ToolError',
  progress: 'ToolProgress',
  cancel: 'ToolCancel',
} as const;

/** A request to run a tool. */
export interface ToolInvokeRequest {
  readonly toolCallId: string;
  readonly toolName: string;
  /** JSON text, or the object itself on a bus that passes objects; absent means no arguments. */
  readonly arguments?: string | JsonObject | undefined;
  /** The working-memory namespace of the run. */
  readonly sessionId?: string | undefined;
}

/** The reply of a tool that ran, or that parked the call. */
export interface ToolInvokeResponse {
  readonly toolCallId: string;
  readonly toolName: string;
  /** The text form. */
  readonly content?: string | undefined;
  readonly isError: boolean;
  readonly structuredContent?: Json | undefined;
  readonly blocks?: readonly Part[] | undefined;
  readonly meta?: JsonObject | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
  readonly handle?: Handle | undefined;
  /** The agent's turn is over with the call. */
  readonly endTurn?: boolean | undefined;
  /** What the agent's model is to look at. Media of a stash are there for the process that ran the tool only. */
  readonly contextItem?: ContextItem | undefined;
}

/** The reply to a call that never got a result of its own. */
export interface ToolError {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly code: FailureCode;
  readonly message: string;
  readonly isRetryable: boolean;
}

/** A reply with the message type of its envelope. */
export type ToolReply =
  | { readonly type: 'ToolInvokeResponse'; readonly body: ToolInvokeResponse }
  | { readonly type: 'ToolError'; readonly body: ToolError };

/** Says an outcome as the reply that travels; one that cannot be written as JSON travels as an error. */
export const toReply = (ended: Outcome, call: { readonly id: string; readonly name: string }): ToolReply => {
  const outcome = toWritableOutcome(ended);
  const named = { toolCallId: call.id, toolName: call.name };
  if (outcome.status === 'failed' && !outcome.failure.reported) {
    const { code, message, retry } = outcome.failure;
    return { type: 'ToolError', body: { ...named, code, message, isRetryable: retry !== 'never' } };
  }
  const body = { ...named, content: outcomeText(outcome) };
  switch (outcome.status) {
    case 'done':
      return {
        type: 'ToolInvokeResponse',
        body: { ...body, isError: false, ...reportMembers(outcome), ...forTurn(outcome) },
      };
    case 'failed':
      return {
        type: 'ToolInvokeResponse',
        body: { ...body, isError: true, ...reportMembers(outcome.failure.reported as ToolReport) },
      };
    case 'parked':
      return {
        type: 'ToolInvokeResponse',
        body: { ...body, isError: false, blocks: outcome.parts, handle: outcome.handle },
      };
  }
};

// Absent unless it is so: most calls end no turn, and put nothing before a model.
const forTurn = ({ endTurn, contextItem }: Pick<ToolInvokeResponse, 'endTurn' | 'contextItem'>) => ({
  ...(endTurn === true && { endTurn }),
  ...(contextItem && { contextItem }),
});

const reportMembers = (report: ToolReport) => ({
  blocks: report.parts,
  structuredContent: report.structured,
  meta: report.meta,
  attachments: report.attachments,
});

/** Reads a reply back into the outcome it says. */
export const fromReply = (reply: ToolReply): Outcome => {
  if (reply.type === 'ToolError') {
    const { code, message, isRetryable } = reply.body;
    return { status: 'failed', failure: { code, message, retry: isRetryable ? 'later' : 'never' } };
  }
  const { body } = reply;
  const parts = body.blocks ?? (body.content === undefined ? [] : [{ type: 'text' as const, text: body.content }]);
  if (body.handle) return { status: 'parked', handle: body.handle, parts };
  const report: ToolReport = {
    parts,
    structured: body.structuredContent,
    meta: body.meta,
    attachments: body.attachments,
  };
  if (!body.isError) return { status: 'done', ...report, ...forTurn(body) };
  return reportedFailure(report);
};

/** The outcome of a tool that ran and said itself that it failed. */
export const reportedFailure = (report: ToolReport): Outcome => ({
  status: 'failed',
  failure: {
    code: 'execution_failed',
    message: outcomeText({ status: 'done', ...report }),
    retry: 'never',
    reported: report,
  },
});
