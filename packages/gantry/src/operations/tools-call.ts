import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import type { ServerStatus } from '../mcp/wire/server-state.ts';
import type { Attachment, FailureCode, Handle, Outcome, Part, ToolReport } from '../tool/outcome.ts';
import { failedOutcome } from '../tool/outcome.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import { jsonObject, jsonValue } from './json-shapes.ts';
import type { Operation } from './operation.ts';
import { defineOperation } from './operation.ts';
import { whyMissing } from './server-of-tool.ts';
import { operatorContext } from './tools.ts';

/** What `tools.call` takes. */
export interface ToolsCallInput {
  readonly name: string;
  /** JSON text, repaired where that is safe, or the object itself. */
  readonly arguments?: string | JsonObject | undefined;
  /** Session whose working memory the call sees; default none. */
  readonly sessionId?: string | undefined;
  readonly timeoutMs?: number | undefined;
}

/** How a call ended. */
export interface ToolsCallOutput {
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

/** `tools.call` */
export const toolsCall: Operation<ToolsCallInput, ToolsCallOutput> = defineOperation({
  name: 'tools.call',
  summary: 'Calls a tool.',
  description:
    'Takes the same path as every other caller. An unknown tool and bad arguments are results of the call (`isError`, `error`), not errors of the request.',
  method: 'POST',
  path: '/tools/{name}/call',
  input: z.strictObject({
    name: z.string().min(1),
    arguments: z
      .union([z.string(), jsonObject], 'send a JSON object such as {"query": "x"}, or its text')
      .optional()
      .describe('The arguments, or their JSON text.'),
    sessionId: z
      .string()
      .regex(/^[\w.:-]{1,128}$/, 'letters, digits, "_", "-", "." and ":", at most 128')
      .optional()
      .describe('Session whose working memory the call sees; default none.'),
    timeoutMs: z.number().int().positive().optional().describe("Milliseconds; default the tool's own limit."),
  }),
  output: z.strictObject({
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
  }),
  handler: async ({ name, arguments: given, sessionId, timeoutMs }, { invoker, servers, clock, newId }, options) => {
    const id = newId();
    const startedMs = clock.elapsedMs();
    const call = invoker.invoke(
      { id, name, arguments: given },
      {
        ...operatorContext,
        namespace: sessionId === undefined ? undefined : `session/${sessionId}`,
        timeoutMs,
        signal: options.signal,
        onProgress: options.onProgress,
      },
    );
    const outcome = withWhyMissing(await call.catch(stoppedOutcome), name, servers?.list() ?? []);
    return {
      toolName: name,
      toolCallId: id,
      status: outcome.status,
      isError: outcome.status === 'failed',
      content: outcomeText(outcome),
      ...membersOf(outcome),
      durationMs: Math.round(clock.elapsedMs() - startedMs),
    };
  },
});

/** A gateway that stops under a call still says how the call ended. */
const stoppedOutcome = (error: unknown): Outcome => {
  if (!GantryError.is(error) || error.code !== 'stopped') throw error;
  return failedOutcome('execution_failed', error.message, error.retry);
};

/** A tool that is not there because its server is not says so. */
const withWhyMissing = (outcome: Outcome, name: string, servers: readonly ServerStatus[]): Outcome => {
  if (outcome.status !== 'failed' || outcome.failure.code !== 'tool_not_found') return outcome;
  const why = whyMissing(name, servers);
  return why === undefined
    ? outcome
    : failedOutcome('tool_not_found', `There is no tool "${name.slice(0, 100)}" now. ${why}`, 'later');
};

const membersOf = (outcome: Outcome): Partial<ToolsCallOutput> => {
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

const reportMembers = ({ parts, structured, attachments }: ToolReport): Partial<ToolsCallOutput> => ({
  blocks: parts,
  structuredContent: structured,
  attachments,
});
