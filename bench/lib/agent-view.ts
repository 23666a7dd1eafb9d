import * as z from 'zod';
import { isObject, parseJson } from '../../packages/gantry/src/kernel/json.ts';
import type { ModelRequest } from '../../test/fixtures/model-script.ts';

/** A call of the turn and what came back. */
export interface SeenCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly result: string;
  readonly isFailed: boolean;
}

/** A tool of a server that some result described. */
export interface FoundTool {
  readonly server: string;
  readonly tool: string;
  /** Names of its parameters; undefined where only its name was shown. */
  readonly keys: readonly string[] | undefined;
}

/** What a request shows a model. */
export interface ModelView {
  /** The tools it may call, in their order, with the names of their parameters. */
  readonly tools: ReadonlyMap<string, readonly string[]>;
  /** The calls since the user spoke, oldest first. */
  readonly calls: readonly SeenCall[];
  /** What searches and lists of this turn showed. */
  readonly found: readonly FoundTool[];
}

const requestSchema = z.object({
  tools: z
    .array(
      z.object({
        function: z.object({
          name: z.string(),
          parameters: z.object({ properties: z.record(z.string(), z.unknown()).default({}) }).optional(),
        }),
      }),
    )
    .default([]),
  messages: z.array(
    z.object({
      role: z.string(),
      content: z.unknown(),
      tool_call_id: z.string().optional(),
      tool_calls: z
        .array(z.object({ id: z.string(), function: z.object({ name: z.string(), arguments: z.string() }) }))
        .optional(),
    }),
  ),
});
const shown = z.object({ properties: z.record(z.string(), z.unknown()).default({}) });
const foundSchema = z.object({
  tools: z.array(
    z.object({
      server: z.string(),
      tool: z.string(),
      inputSchema: shown.optional(),
      signature: z.string().optional(),
    }),
  ),
});
const detailsSchema = z.object({
  server: z.object({ name: z.string() }),
  tools: z.array(z.object({ name: z.string(), parametersSchema: z.string().optional() })),
});
const servicesSchema = z.array(z.object({ serverName: z.string(), toolNames: z.array(z.string()) }));

/** Reads a request of the chat completions protocol. */
export const viewOf = ({ body }: ModelRequest): ModelView => {
  const { tools, messages } = requestSchema.parse(body);
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1);
  const results = new Map(turn.map((message) => [message.tool_call_id, textOf(message.content)]));
  const calls = turn
    .flatMap((message) => message.tool_calls ?? [])
    .map(({ id, function: called }): SeenCall => {
      const args = valueOf(called.arguments);
      const result = results.get(id) ?? '';
      return { name: called.name, args: isObject(args) ? args : {}, result, isFailed: result.startsWith('Error') };
    });
  return {
    tools: new Map(
      tools.map(({ function: { name, parameters } }) => [name, Object.keys(parameters?.properties ?? {})]),
    ),
    calls,
    found: calls.filter(({ name, isFailed }) => name.startsWith('mcp_') && !isFailed).flatMap(foundIn),
  };
};

const foundIn = ({ result }: SeenCall): readonly FoundTool[] => {
  const value = valueOf(result);
  const services = servicesSchema.safeParse(value);
  if (services.success)
    return services.data.flatMap(({ serverName: server, toolNames }) =>
      toolNames.map((tool) => ({ server, tool, keys: undefined })),
    );
  const details = detailsSchema.safeParse(value);
  if (details.success)
    return details.data.tools.map(({ name, parametersSchema }) => {
      const schema = shown.safeParse(valueOf(parametersSchema ?? ''));
      return {
        server: details.data.server.name,
        tool: name,
        keys: schema.success ? Object.keys(schema.data.properties) : undefined,
      };
    });
  const found = foundSchema.safeParse(value);
  if (!found.success) return [];
  return found.data.tools.map(({ server, tool, inputSchema, signature }) => ({
    server,
    tool,
    keys: inputSchema ? Object.keys(inputSchema.properties) : signature === undefined ? undefined : keysIn(signature),
  }));
};

/** The names in a signature such as `{"path": string, "head"?: number}`. */
export const keysIn = (signature: string): readonly string[] =>
  [...signature.matchAll(/"(\w+)"\??:/g)].map(([, key = '']) => key);

/** The document in a text, which may have a remark on the lines behind it. */
const valueOf = (text: string): unknown => {
  const [first = ''] = text.split('\n');
  for (const part of [text, first]) {
    const parsed = parseJson(part);
    if (parsed.ok) return parsed.value;
  }
  return undefined;
};

const textOf = (content: unknown): string => (typeof content === 'string' ? content : JSON.stringify(content ?? ''));
