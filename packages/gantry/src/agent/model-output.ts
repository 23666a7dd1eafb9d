import { outcomeText } from '../tool/outcome-text.ts';
import type { Outcome } from '../tool/outcome.ts';

/** A tool's result as the AI SDK puts it into a message. */
export type ModelOutput =
  | { type: 'text'; value: string }
  | { type: 'error-text'; value: string }
  | { type: 'content'; value: ({ type: 'text'; text: string } | MediaContent)[] };

interface MediaContent {
  type: 'file';
  mediaType: string;
  data: { type: 'data'; data: string };
}

/** The outcome of a call for a model: its text form, and the images of it where the model takes them. */
export const toModelOutput = (outcome: Outcome, options: { readonly seesImages?: boolean } = {}): ModelOutput => {
  const value = outcomeText(outcome);
  if (outcome.status === 'failed') return { type: 'error-text', value };
  const media = outcome.parts.flatMap((part): MediaContent[] =>
    part.type === 'image' && options.seesImages !== false
      ? [{ type: 'file', mediaType: part.mimeType, data: { type: 'data', data: part.data } }]
      : [],
  );
  return media.length === 0
    ? { type: 'text', value }
    : { type: 'content', value: [{ type: 'text', text: value }, ...media] };
};
