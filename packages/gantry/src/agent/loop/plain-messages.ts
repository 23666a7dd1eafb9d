import type { ModelMessage, ToolModelMessage } from 'ai';
import { cutText } from '../../text/cut.ts';

type ResultPart = Extract<ToolModelMessage['content'][number], { type: 'tool-result' }>;

const argumentChars = 300;

/**
 * The same conversation in words: calls and results become text, so that a model that is shown no tools can read it. Some providers refuse
 * calls in a history without tools.
 */
export const toPlainMessages = (messages: readonly ModelMessage[]): readonly ModelMessage[] =>
  messages.flatMap((message): readonly ModelMessage[] => {
    switch (message.role) {
      case 'assistant': {
        if (typeof message.content === 'string') return [message];
        const lines = message.content.flatMap((part) => {
          if (part.type === 'text') return [part.text];
          if (part.type !== 'tool-call') return [];
          return [`[Called ${part.toolName} with ${cutText(JSON.stringify(part.input) ?? '', argumentChars)}]`];
        });
        return lines.length === 0 ? [] : [{ role: 'assistant', content: lines.join('\n') }];
      }
      case 'tool': {
        const lines = message.content.flatMap((part) =>
          part.type === 'tool-result' ? [`[Tool result for ${part.toolName}]: ${outputText(part.output)}`] : [],
        );
        return lines.length === 0 ? [] : [{ role: 'user', content: lines.join('\n\n') }];
      }
      default:
        return [message];
    }
  });

/** All words of a conversation, results of tools included. */
export const conversationText = (messages: readonly ModelMessage[]): string =>
  toPlainMessages(messages)
    .map(({ content }) =>
      typeof content === 'string' ? content : content.map((part) => (part.type === 'text' ? part.text : '')).join('\n'),
    )
    .join('\n');

/** What others than the model said in a conversation: users, and tools in their results. */
export const givenText = (messages: readonly ModelMessage[]): string =>
  conversationText(messages.filter(({ role }) => role === 'user' || role === 'tool'));

/** The text of a result as it stands in a message. */
export const outputText = (output: ResultPart['output']): string => {
  switch (output.type) {
    case 'text':
    case 'error-text':
      return output.value;
    case 'json':
    case 'error-json':
      return JSON.stringify(output.value) ?? '';
    case 'execution-denied':
      return output.reason ?? 'denied';
    case 'content':
      return output.value.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
  }
};
