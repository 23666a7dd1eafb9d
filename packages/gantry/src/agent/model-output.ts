import { fromBase64 } from '../kernel/base64.ts';
import { outcomeText } from '../tool/outcome-text.ts';
import type { Outcome, Part } from '../tool/outcome.ts';
import { imageFormatOf } from '../web/search/image-format.ts';

/** A tool's result as the AI SDK puts it into a message. */
export type ModelOutput =
  | { type: 'text'; value: string }
  | { type: 'error-text'; value: string }
  | { type: 'content'; value: ({ type: 'text'; text: string } | MediaContent)[] };

interface MediaContent {
  type: 'file';
  mediaType: string;
  data: { type: 'data'; data: string };
  /** Under what name it can be taken out again, see `withoutShown`. */
  providerOptions: { gantry: { shown: string } };
}

/** The outcome of a call for a model: its text form, and the pictures of it where the model takes them. */
export const toModelOutput = (outcome: Outcome, options: { readonly seesImages?: boolean } = {}): ModelOutput => {
  const value = outcomeText(outcome);
  if (outcome.status === 'failed') return { type: 'error-text', value };
  const media = options.seesImages === false ? [] : outcome.parts.flatMap(toMedia);
  return media.length === 0
    ? { type: 'text', value }
    : { type: 'content', value: [{ type: 'text', text: value }, ...media] };
};

/** What is called a picture and is none, as servers may send, would have the whole request fail; the text form names it. */
const toMedia = (part: Part): MediaContent[] => {
  const bytes = part.type === 'image' && typeof part.data === 'string' ? fromBase64(part.data) : undefined;
  const mediaType = bytes && imageFormatOf(bytes)?.mime;
  if (!bytes || mediaType === undefined) return [];
  return [
    {
      type: 'file',
      mediaType,
      data: { type: 'data', data: Buffer.from(bytes).toString('base64') },
      providerOptions: { gantry: { shown: mediaType } },
    },
  ];
};
