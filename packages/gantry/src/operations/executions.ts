import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import type { ToolExecution, ToolStats } from '../toolset/execution-history.ts';
import { jsonObject } from './json-shapes.ts';
import type { Operation } from './operation.ts';
import { defineOperation } from './operation.ts';
import { operatorContext } from './tools.ts';

/** A call as it is remembered. */
export interface ExecutionInfo extends Omit<ToolExecution, 'atMs'> {
  /** When it ended, ISO time. */
  readonly at: string;
}

/** `executions.list` */
export const executionsList: Operation<
  { readonly limit?: number | undefined },
  { readonly executions: readonly ExecutionInfo[]; readonly stats: ToolStats }
> = defineOperation({
  name: 'executions.list',
  summary: 'Lists the last calls of tools, newest first, and counts tools and calls.',
  description: 'The last 1,000 of this process are remembered. Secrets are masked and long values cut.',
  method: 'GET',
  path: '/executions',
  input: z.strictObject({
    limit: z.number().int().positive().max(1000).optional().describe('How many; default 100.'),
  }),
  output: z.strictObject({
    executions: z.array(
      z.strictObject({
        toolName: z.string(),
        provider: z.string().describe('Of the model that called; "unknown" where none did.'),
        workspace: z.string(),
        caller: z.string(),
        parameters: jsonObject,
        status: z.enum(['done', 'failed', 'parked']),
        result: z.string().describe('The beginning of its text.'),
        durationMs: z.number(),
        at: z.string().describe('When it ended, ISO time.'),
      }),
    ),
    stats: z.strictObject({
      totalTools: z.number(),
      toolsByCategory: z.record(z.string(), z.number()),
      recentExecutions: z.number().describe('In the last 24 hours, as far as they are remembered.'),
      totalExecutions: z.number().describe('Since the start.'),
    }),
  }),
  handler: ({ limit }, { history, toolsets }) => {
    if (!history) throw new GantryError('usage', 'Calls are not remembered here.');
    return {
      executions: history.list(limit).map(({ atMs, ...rest }) => ({ ...rest, at: new Date(atMs).toISOString() })),
      stats: history.stats(toolsets.for(operatorContext).tools),
    };
  },
});
