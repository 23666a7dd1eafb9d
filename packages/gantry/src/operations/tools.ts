import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import type { JsonObject } from '../kernel/json.ts';
import { nearest } from '../kernel/nearest.ts';
import type { CallContext } from '../tool/context.ts';
import type { ToolAnnotations, ToolRegistration } from '../tool/registration.ts';
import { jsonObject } from './json-shapes.ts';
import type { Operation } from './operation.ts';
import { defineOperation } from './operation.ts';
import { whyMissing } from './server-of-tool.ts';
import type { OperationDeps } from './operation-deps.ts';
import { bySourceThenName } from '../tool/registry.ts';

/** A tool in a list. */
export interface ToolSummary {
  readonly name: string;
  readonly description: string;
  readonly source: string;
  readonly inputSchema: JsonObject;
}

/** Everything there is to know about a tool before calling it. */
export interface ToolDetails extends ToolSummary {
  readonly title?: string | undefined;
  readonly category?: string | undefined;
  readonly outputSchema?: JsonObject | undefined;
  readonly annotations?: ToolAnnotations | undefined;
  /** The server and the server's own tool name behind a typed tool. */
  readonly target?: { readonly server: string; readonly tool: string } | undefined;
  /** Name of the guide of its family, where there is one. */
  readonly guide?: string | undefined;
  /** False when it is registered, but not offered now. */
  readonly available: boolean;
}

/** How the operations look at the tool layer. */
export const operatorContext: CallContext = Object.freeze({ caller: 'operator' });

const summaryShape = {
  name: z.string(),
  description: z.string(),
  source: z.string().describe('Where the tool comes from: "memory", "mcp:{server}" …'),
  inputSchema: jsonObject.describe('JSON Schema of the arguments.'),
};

const annotationsSchema: z.ZodType<ToolAnnotations> = z
  .looseObject({
    title: z.string(),
    readOnlyHint: z.boolean(),
    destructiveHint: z.boolean(),
    idempotentHint: z.boolean(),
    openWorldHint: z.boolean(),
  })
  .partial();

/** `tools.list` */
export const toolsList: Operation<
  { readonly source?: string | undefined; readonly all?: boolean | undefined },
  { readonly tools: readonly ToolSummary[]; readonly configError?: string | undefined }
> = defineOperation({
  name: 'tools.list',
  summary: 'Lists the tools that can be called now, by source, then name.',
  method: 'GET',
  path: '/tools',
  input: z.strictObject({
    source: z.string().optional().describe('Only tools of this source.'),
    all: z.boolean().optional().describe('Everything registered, also what is not offered now.'),
  }),
  output: z.strictObject({
    tools: z.array(z.strictObject(summaryShape)),
    configError: z.string().optional().describe('What is wrong with the file of servers, with line and column.'),
  }),
  handler: ({ source, all = false }, { registry, toolsets, servers }) => {
    const offered = toolsets.for(operatorContext).tools;
    const names = new Set(offered.map((tool) => tool.name));
    const hidden = all ? registry.getTools().filter((tool) => !names.has(tool.name)) : [];
    const tools = [...offered, ...hidden].filter((tool) => source === undefined || tool.source === source);
    return { tools: tools.sort(bySourceThenName).map(toSummary), configError: servers?.configError?.() };
  },
});

/** `tools.show` */
export const toolsShow: Operation<{ readonly name: string }, ToolDetails> = defineOperation({
  name: 'tools.show',
  summary: 'Shows a tool: description, schemas, source and guide.',
  method: 'GET',
  path: '/tools/{name}',
  input: z.strictObject({ name: z.string().min(1) }),
  output: z.strictObject({
    ...summaryShape,
    title: z.string().optional(),
    category: z.string().optional(),
    outputSchema: jsonObject.optional(),
    annotations: annotationsSchema.optional(),
    target: z.strictObject({ server: z.string(), tool: z.string() }).optional(),
    guide: z.string().optional().describe('Guide of the tool family.'),
    available: z.boolean().describe('False when it is registered, but not offered now.'),
  }),
  handler: ({ name }, deps) => {
    const offered = deps.toolsets.find(name, operatorContext);
    const tool = offered ?? deps.registry.get(name);
    if (!tool) throw noSuchTool(name, deps);
    const { title, category, outputSchema, annotations, target } = tool.registration;
    return {
      ...toSummary(tool.registration),
      title,
      category,
      outputSchema,
      annotations,
      target,
      guide: guideOf(tool.registration, deps),
      available: offered !== undefined,
    };
  },
});

const toSummary = ({ name, description, source, inputSchema }: ToolRegistration): ToolSummary => ({
  name,
  description,
  source,
  inputSchema,
});

// Guides are named after sources (`memory`), or after the kind of source that stands before the colon (`mcp:wiki`).
const guideOf = ({ source, category }: ToolRegistration, { guides }: OperationDeps): string | undefined => {
  const [kind] = source.split(':', 1);
  const guide = guides.find(source) ?? guides.find(kind as string) ?? (category && guides.find(category));
  return guide ? guide.name : undefined;
};

const noSuchTool = (name: string, { toolsets, servers }: OperationDeps): GantryError => {
  const near = nearest(name, toolsets.names(operatorContext));
  const why = whyMissing(name, servers?.list() ?? []);
  const hint = why ?? (near.length > 0 ? `Did you mean ${near.join(', ')}?` : 'List the tools to see what there is.');
  return new GantryError('tool_not_found', `There is no tool named "${name.slice(0, 100)}". ${hint}`, {
    details: { name, nearest: near },
  });
};
