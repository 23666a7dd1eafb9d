import type { JsonSchema } from '../../tool/registration.ts';
import { toRegistration } from '../../tool/registration.ts';
import type { Tool } from '../../tool/executor.ts';
import { textOutcome } from '../../tool/outcome.ts';
import { parseDefinitions } from './parse-definitions.ts';
import { reportBatch } from './wisp-report.ts';
import type { Wisps } from './wisps.ts';

const text = (description: string): JsonSchema => ({ type: 'string', description });

const step: JsonSchema = {
  type: 'object',
  properties: {
    id: text('Its name, different from the others.'),
    mode: {
      type: 'string',
      enum: ['Direct', 'Llm'],
      description: 'Direct: one call. Llm: a small model works with the tools of the pipeline.',
    },
    gateway: {
      type: 'string',
      enum: ['Mcp', 'Script', 'Web', 'A2A'],
      description: 'Direct: required. A2A is refused for now.',
    },
    server: text('Mcp: the server, where "tool" is its own name for the tool.'),
    tool: text('Mcp: typed name {server}__{tool}, or the server\'s own name. Web: "web_search" or "web_browse".'),
    language: text('Script: "python" (default) or "javascript".'),
    params: {
      type: 'object',
      description: 'Direct, required: the arguments of the tool, {} when it takes none. Script: {"script": "…"}.',
    },
    prompt: text('Llm, required: what to do, and what form the result has.'),
    input_from: text(
      'Data for the step: id of an earlier step, key of working memory, or path of the shared folder. Llm default: the results of all steps before.',
    ),
    output_to: text('Also writes the result to this file of the shared folder.'),
    timeout_minutes: { type: 'number', description: 'Default 5, at most 60.' },
    on_failure: {
      type: 'object',
      description: 'Direct: what to do when it fails; default abort.',
      properties: {
        action: { type: 'string', enum: ['abort', 'skip_to'] },
        skip_to: text('Id of the later step to go on with.'),
      },
    },
    agent: text('A2A only.'),
    skill: text('A2A only.'),
    message: text('A2A only.'),
  },
  required: ['id', 'mode'],
};

/** The form to send. Others that mean the same are understood, see `parseDefinitions`. */
const inputSchema: JsonSchema = {
  type: 'object',
  properties: {
    definitions: {
      type: 'array',
      description: 'The pipelines; they run side by side.',
      items: {
        type: 'object',
        properties: {
          description: text('What it is for.'),
          steps: { type: 'array', items: step, description: 'They run one after another.' },
          tools: {
            type: 'array',
            items: { type: 'string' },
            description: 'Further tools of Llm steps: names of tools, or of servers for all of theirs.',
          },
        },
        required: ['description', 'steps'],
      },
    },
  },
  required: ['definitions'],
};

/** `spawn_wisps`: runs pipelines and gives their results. Not offered to pipelines themselves. */
export const wispTool = (wisps: Wisps): Tool => ({
  registration: toRegistration({
    name: 'spawn_wisps',
    description:
      'Runs fixed pipelines of calls, many side by side, and waits for their results. For the same known steps over many items (read ten pages and sum each up, query five servers): the results in between stay out of this conversation. A step uses the result of an earlier one as {{steps.<id>.result}}. Read the guide "wisps" before the first use.',
    source: 'wisp',
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
    available: ({ caller, namespace = '' }) =>
      (caller === 'model' || caller === 'operator') && !namespace.startsWith('wisp/'),
    inputSchema,
  }),
  executor: {
    // Each step has a time of its own.
    timeoutMs: 0,
    // Its faults are told with the pipeline and step that they are in.
    checkArguments: (value) => ({ ok: true, value }),
    execute: async ({ arguments: { definitions } }, context) =>
      textOutcome(reportBatch(await wisps.run(parseDefinitions(definitions), context))),
  },
});
