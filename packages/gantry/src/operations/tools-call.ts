import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { untilCallable } from '../mcp/face/first-tools.ts';
import type { ServerStatus } from '../mcp/wire/server-state.ts';
import type { CallContext } from '../tool/context.ts';
import type { Outcome } from '../tool/outcome.ts';
import { failedOutcome } from '../tool/outcome.ts';
import type { Called } from './called.ts';
import { calledSchema, toCalled } from './called.ts';
import { jsonObject } from './json-shapes.ts';
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

/** `tools.call` */
export const toolsCall: Operation<ToolsCallInput, Called> = defineOperation({
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
  output: calledSchema,
  handler: async ({ name, arguments: given, sessionId, timeoutMs }, deps, options) => {
    const { invoker, toolsets, firstTools, servers, clock, newId } = deps;
    const id = newId();
    const startedMs = clock.elapsedMs();
    const context: CallContext = {
      ...operatorContext,
      namespace: sessionId === undefined ? undefined : `session/${sessionId}`,
      timeoutMs,
      signal: options.signal,
      onProgress: options.onProgress,
    };
    await untilCallable(firstTools, () => toolsets.find(name, context) !== undefined);
    const call = invoker.invoke({ id, name, arguments: given }, context);
    const outcome = withWhyMissing(await call.catch(stoppedOutcome), name, servers?.list() ?? []);
    return toCalled(outcome, { toolName: name, toolCallId: id, durationMs: clock.elapsedMs() - startedMs });
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
