import * as z from 'zod';
import type { Json } from '../kernel/json.ts';
import type { Attachment, FailureCode, Handle, Outcome, Part, ToolReport } from '../tool/outcome.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import { jsonValue } from './json-shapes.ts';

/** How a call ended. */
export interface Called {
  readonly toolName: string;
  readonly toolCallId: string;
  readonly status: Outcome['status'];
  readonly isError: boolean;
  /** The text form; never empty. */
  readonly content: string;
  /** The result as the tool gave it. */
  readonly blocks?: readonly Part[] | undefined;
  readonly structuredContent?: Json | undefined;
  readonly error?: { readonly code: FailureCode; readonly message: string; readonly isRetryable: boolean } | undefined;
  /** What a parked call waits for. */
  readonly handle?: Handle | undefined;
  readonly attachments?: readonly Attachment[] | undefined;
  readonly durationMs: number;
}

/** The shape of {@link Called}. */
export const calledSchema: z.ZodType<Called> = z.strictObject({
  toolName: z.string(),
  toolCallId: z.string(),
  status: z.enum(['done', 'failed', 'parked']),
  isError: z.boolean(),
  content: z.string().describe('The text form of the result; never empty.'),
  blocks: (z.array(z.looseObject({ type: z.string() })) as unknown as z.ZodType<readonly Part[]>)
    .optional()
    .describe('The result as MCP content blocks.'),
  structuredContent: jsonValue.optional(),
  error: z
    .strictObject({
      code: z.enum(['tool_not_found', 'invalid_arguments', 'timeout', 'execution_failed', 'auth_required']),
      message: z.string(),
      isRetryable: z.boolean(),
    })
    .optional(),
  handle: z
    .strictObject({ kind: z.enum(['question', 'task']), id: z.string(), expiresAt: z.string() })
    .optional()
    .describe('What a parked call waits for.'),
  attachments: z
    .array(z.strictObject({ path: z.string(), name: z.string(), size: z.number(), mime: z.string() }))
    .optional()
    .describe('Files that the call left in the shared folder; size in bytes.'),
  durationMs: z.number(),
});

/** Says the outcome of a call. */
export const toCalled = (
  outcome: Outcome,
  call: { readonly toolName: string; readonly toolCallId: string; readonly durationMs: number },
): Called => ({
  toolName: call.toolName,
  toolCallId: call.toolCallId,
  status: outcome.status,
  isError: outcome.status === 'failed',
  content: outcomeText(outcome),
  ...membersOf(outcome),
  durationMs: Math.round(call.durationMs),
});

const membersOf = (outcome: Outcome): Partial<Called> => {
  switch (outcome.status) {
    case 'done':
      return reportMembers(outcome);
    case 'failed': {
      const { code, message, retry, reported } = outcome.failure;
      return { ...(reported && reportMembers(reported)), error: { code, message, isRetryable: retry !== 'never' } };
    }
    case 'parked':
      return { blocks: outcome.parts, handle: outcome.handle };
  }
};

const reportMembers = ({ parts, structured, attachments }: ToolReport): Partial<Called> => ({
  blocks: parts,
  structuredContent: structured,
  attachments,
});
