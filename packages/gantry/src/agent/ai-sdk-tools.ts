import type { ToolSet } from 'ai';
import { dynamicTool, jsonSchema } from 'ai';
import type { JsonObject } from '../kernel/json.ts';
import type { CallContext } from '../tool/context.ts';
import type { ToolCall } from '../tool/executor.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import type { Outcome } from '../tool/outcome.ts';
import type { Toolset } from '../toolset/toolset.ts';

/** What {@link toAiSdkTools} needs of a Gantry. */
export interface ToolCaller {
  readonly invoker: { invoke(call: ToolCall, context: CallContext): Promise<Outcome> };
}

/**
 * A toolset as the AI SDK takes it. The SDK's tool call id, abort signal and nothing else of its context reach the tool;
 * arguments go through Gantry's own repair and validation, so the SDK only parses them. A failed call is given to the model as
 * an error text, never thrown; images reach models that take them.
 *
 * @example generateText({ model, tools: toAiSdkTools(gantry, gantry.toolset({ namespace: 'session/1' }), { namespace: 'session/1' }), prompt })
 */
export const toAiSdkTools = (
  gantry: ToolCaller,
  toolset: Toolset,
  context: Partial<Omit<CallContext, 'signal'>> = {},
): ToolSet =>
  Object.fromEntries(
    toolset.tools.map((registration) => [
      registration.name,
      dynamicTool({
        description: registration.description,
        inputSchema: jsonSchema(registration.inputSchema),
        execute: (input, { toolCallId, abortSignal }) =>
          gantry.invoker.invoke(
            { id: toolCallId, name: registration.name, arguments: input as JsonObject },
            { caller: 'model', ...context, signal: abortSignal },
          ),
        toModelOutput: ({ output }) => toModelOutput(output as Outcome),
      }),
    ]),
  );

type ModelOutput =
  | { type: 'text'; value: string }
  | { type: 'error-text'; value: string }
  | { type: 'content'; value: ({ type: 'text'; text: string } | MediaContent)[] };

interface MediaContent {
  type: 'file';
  mediaType: string;
  data: { type: 'data'; data: string };
}

const toModelOutput = (outcome: Outcome): ModelOutput => {
  const value = outcomeText(outcome);
  if (outcome.status === 'failed') return { type: 'error-text', value };
  const media = outcome.parts.flatMap((part): MediaContent[] =>
    part.type === 'image' ? [{ type: 'file', mediaType: part.mimeType, data: { type: 'data', data: part.data } }] : [],
  );
  return media.length === 0
    ? { type: 'text', value }
    : { type: 'content', value: [{ type: 'text', text: value }, ...media] };
};
