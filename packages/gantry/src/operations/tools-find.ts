import * as z from 'zod';
import type { JsonObject } from '../kernel/json.ts';
import { jsonObject } from './json-shapes.ts';
import type { Operation } from './operation.ts';
import { defineOperation } from './operation.ts';
import { operatorContext } from './tools.ts';

/** What `tools.find` gives. */
export interface ToolsFindOutput {
  readonly query: string;
  readonly tools: readonly {
    readonly name: string;
    readonly server: string;
    /** The server's own name for it. */
    readonly tool: string;
    readonly score: number;
    readonly description: string;
    readonly inputSchema: JsonObject;
  }[];
}

/** `tools.find` */
export const toolsFind: Operation<{ readonly query: string; readonly limit?: number | undefined }, ToolsFindOutput> =
  defineOperation({
    name: 'tools.find',
    summary: 'Searches the tools of all MCP servers by what they do; best first.',
    method: 'GET',
    path: '/find-tools',
    input: z.strictObject({
      query: z.string().trim().min(1).describe('What is to be done, or the name of a tool.'),
      limit: z.number().int().min(1).max(100).optional().describe('How many at most; default 10.'),
    }),
    output: z.strictObject({
      query: z.string(),
      tools: z.array(
        z.strictObject({
          name: z.string(),
          server: z.string(),
          tool: z.string().describe("The server's own name of the tool."),
          score: z.number().describe('Compares only within one answer.'),
          description: z.string(),
          inputSchema: jsonObject,
        }),
      ),
    }),
    handler: async ({ query, limit = 10 }, { findTools }) => ({
      query,
      tools: ((await findTools?.(query, limit, operatorContext)) ?? []).map(({ entry, score }) => {
        const { name, description, inputSchema } = entry.tool.registration;
        return { name, server: entry.server, tool: entry.name, score, description, inputSchema };
      }),
    }),
  });
