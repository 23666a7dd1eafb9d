import type { ToolSet } from 'ai';
import { dynamicTool, jsonSchema } from 'ai';
import type { JsonObject } from '../kernel/json.ts';
import { isObject } from '../kernel/json.ts';
import { providerToolName } from '../schema/tool-name.ts';
import type { CallContext } from '../tool/context.ts';
import type { ToolCall } from '../tool/executor.ts';
import type { Outcome } from '../tool/outcome.ts';
import type { Toolset } from '../toolset/toolset.ts';
import { adaptOnce, toDialect } from './adapt-for-model.ts';
import { toModelOutput } from './model-output.ts';

/** What {@link toAiSdkTools} needs of a Gantry. */
export interface ToolCaller {
  readonly invoker: { invoke(call: ToolCall, context: CallContext): Promise<Outcome> };
}

/**
 * A toolset as the AI SDK takes it, in the names and schemas that the provider of `context.model` accepts. The SDK's tool
 * call id, abort signal and nothing else of its context reach the tool; arguments go through Gantry's own repair and
 * validation, so the SDK only parses them. A failed call is given to the model as an error text, never thrown; images reach
 * models that take them.
 *
 * @example generateText({ model, tools: toAiSdkTools(gantry, gantry.toolset({ namespace: 'session/1' }), { namespace: 'session/1' }), prompt })
 */
export const toAiSdkTools = (
  gantry: ToolCaller,
  toolset: Toolset,
  context: Partial<Omit<CallContext, 'signal'>> = {},
): ToolSet => {
  const provider = toDialect(context.model?.provider);
  return Object.fromEntries(
    toolset.tools.map((registration) => {
      const { description, inputSchema, strict, restore } = adaptOnce(registration, provider);
      return [
        providerToolName(registration.name, provider),
        dynamicTool({
          description,
          inputSchema: jsonSchema(inputSchema),
          strict,
          execute: (input, { toolCallId, abortSignal }) =>
            gantry.invoker.invoke(
              {
                id: toolCallId,
                name: registration.name,
                arguments: isObject(input) ? restore(input as JsonObject) : undefined,
              },
              { caller: 'model', ...context, signal: abortSignal },
            ),
          toModelOutput: ({ output }) => toModelOutput(output as Outcome),
        }),
      ];
    }),
  );
};
