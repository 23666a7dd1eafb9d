import type { ToolSet } from 'ai';
import { dynamicTool, jsonSchema } from 'ai';
import type { JsonObject } from '../kernel/json.ts';
import { isObject } from '../kernel/json.ts';
import type { AdaptedTool } from '../schema/adapt/adapt-tool.ts';
import { adaptTool } from '../schema/adapt/adapt-tool.ts';
import type { Provider } from '../schema/adapt/provider.ts';
import { providerToolName } from '../schema/tool-name.ts';
import type { CallContext } from '../tool/context.ts';
import type { ToolCall } from '../tool/executor.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import type { Outcome } from '../tool/outcome.ts';
import type { ToolRegistration } from '../tool/registration.ts';
import type { Toolset } from '../toolset/toolset.ts';

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
  const provider = toProvider(context.model?.provider);
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

/** Which dialect of schemas a provider key of the AI SDK (`google.generative-ai`, `anthropic.messages` …) takes. */
const toProvider = (key: string | undefined): Provider => {
  const name = key?.toLowerCase() ?? '';
  if (name.includes('google') || name.includes('gemini') || name.includes('vertex')) return 'gemini';
  if (name.includes('anthropic')) return 'anthropic';
  return name === '' ? 'generic' : 'openai';
};

// A registration that has not changed keeps its object, and adapting a thousand of them takes longer than a turn may.
const adapted = new WeakMap<ToolRegistration, Map<Provider, AdaptedTool>>();

const adaptOnce = (registration: ToolRegistration, provider: Provider): AdaptedTool => {
  let forms = adapted.get(registration);
  if (!forms) adapted.set(registration, (forms = new Map()));
  let form = forms.get(provider);
  if (!form) forms.set(provider, (form = adaptTool(registration, provider)));
  return form;
};

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
