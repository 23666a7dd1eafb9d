import type { LanguageModelMiddleware } from 'ai';
import { maxJsonDepth } from '../../kernel/json-problem.ts';
import { nestsDeeper } from './nests-deeper.ts';

/**
 * Bounds the depth of the arguments of a model's calls: deeper ones come as a text that holds them, which the call path refuses with the
 * reason. The SDK copies arguments level by level, and fails as a whole on some thousands of levels (seen in 7.0).
 */
export const boundedArguments: LanguageModelMiddleware = {
  wrapStream: async ({ doStream }) => {
    const { stream, ...rest } = await doStream();
    type Part = typeof stream extends ReadableStream<infer Each> ? Each : never;
    const bounded = new TransformStream<Part, Part>({
      transform: (part, controller) =>
        controller.enqueue(
          part.type === 'tool-call' && nestsDeeper(part.input, maxJsonDepth)
            ? { ...part, input: JSON.stringify(part.input) }
            : part,
        ),
    });
    return { ...rest, stream: stream.pipeThrough(bounded) };
  },
};
