import type { AssistantModelMessage, JSONValue, ModelMessage, ProviderMetadata, ToolModelMessage } from 'ai';
import type { JsonObject } from '../../kernel/json.ts';
import type { ModelOutput } from '../model-output.ts';
import type { SaidPart } from './step.ts';

/** A call as it stands in a history: under a name that providers take, with arguments that are an object. */
export interface HistoryCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: JsonObject;
  readonly options?: ProviderMetadata | undefined;
}

/** What the model said and which calls it made, as a message of the assistant. */
export const saidMessage = (parts: readonly SaidPart[], calls: readonly HistoryCall[]): AssistantModelMessage => ({
  role: 'assistant',
  content: [
    ...parts,
    ...calls.map(({ id, name, arguments: args, options }) => ({
      type: 'tool-call' as const,
      toolCallId: id,
      toolName: name,
      input: args as JSONValue,
      ...(options && { providerOptions: options }),
    })),
  ],
});

/** The results of the calls of one message, in the sequence of the calls. */
export const resultsMessage = (
  results: readonly { readonly id: string; readonly name: string; readonly output: ModelOutput }[],
): ToolModelMessage => ({
  role: 'tool',
  content: results.map(({ id, name, output }) => ({ type: 'tool-result', toolCallId: id, toolName: name, output })),
});

/** A message of the user, or of the loop in the user's place. */
export const askedMessage = (text: string): ModelMessage => ({ role: 'user', content: text });
