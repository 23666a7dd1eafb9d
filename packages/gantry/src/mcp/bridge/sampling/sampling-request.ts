import { isObject } from '../../../kernel/json.ts';

/** A request of a server for a model's answer, as one text. */
export interface SamplingRequest {
  readonly prompt: string;
  /** The most the server wants. */
  readonly maxTokens: number;
}

// More than any answer of a helper needs, and less than what would crowd out the budget at once.
const maxPromptChars = 200_000;

/**
 * Reads the params of `sampling/createMessage`. Only texts are taken; which model the server would like, how it should be tuned, and what
 * context it would like to have are left to the operator.
 */
export const readSamplingRequest = (params: unknown): SamplingRequest | { readonly problem: string } => {
  if (!isObject(params) || !Array.isArray(params['messages']) || params['messages'].length === 0)
    return { problem: 'the request has no messages' };
  const { maxTokens, systemPrompt } = params;
  if (typeof maxTokens !== 'number' || !Number.isInteger(maxTokens) || maxTokens < 1)
    return { problem: '"maxTokens" must be a whole number of 1 or more' };
  if (params['tools'] !== undefined) return { problem: 'it wants the model to use tools, which is not offered' };
  const turns: string[] = [];
  for (const message of params['messages'] as readonly unknown[]) {
    const content = isObject(message) ? message['content'] : undefined;
    const blocks: readonly unknown[] = Array.isArray(content) ? content : [content];
    const texts = blocks.map((block) => (isObject(block) && block['type'] === 'text' ? block['text'] : undefined));
    if (texts.length === 0 || !texts.every((text) => typeof text === 'string'))
      return { problem: 'only messages of text are answered' };
    const speaker = isObject(message) && message['role'] === 'assistant' ? 'Assistant' : 'User';
    turns.push(`${speaker}: ${texts.join('\n')}`);
  }
  const prompt = [
    ...(typeof systemPrompt === 'string' && systemPrompt !== '' ? [`Instructions of the server: ${systemPrompt}`] : []),
    ...turns,
    'Assistant:',
  ].join('\n\n');
  return prompt.length > maxPromptChars
    ? { problem: `its messages are longer than ${maxPromptChars} characters` }
    : { prompt, maxTokens };
};
