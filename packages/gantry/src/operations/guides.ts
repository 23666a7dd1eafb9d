import * as z from 'zod';
import { GantryError } from '../kernel/errors.ts';
import { nearest } from '../kernel/nearest.ts';
import type { NoInput, Operation } from './operation.ts';
import { defineOperation } from './operation.ts';

/** A guide in a list. */
export interface GuideSummary {
  readonly name: string;
  readonly summary: string;
}

/** A guide with its Markdown. */
export interface GuideDocument extends GuideSummary {
  readonly document: string;
}

/** `guides.list` */
export const guidesList: Operation<NoInput, { readonly guides: readonly GuideSummary[] }> = defineOperation({
  name: 'guides.list',
  summary: 'Lists the guides of the tool families.',
  method: 'GET',
  path: '/guides',
  input: z.strictObject({}),
  output: z.strictObject({ guides: z.array(z.strictObject({ name: z.string(), summary: z.string() })) }),
  handler: (_input, { guides }) => ({ guides: guides.list().map(({ name, summary }) => ({ name, summary })) }),
});

/** `guides.show` */
export const guidesShow: Operation<{ readonly name: string }, GuideDocument> = defineOperation({
  name: 'guides.show',
  summary: 'Shows the guide of a tool family.',
  method: 'GET',
  path: '/guides/{name}',
  input: z.strictObject({ name: z.string().min(1) }),
  output: z.strictObject({ name: z.string(), summary: z.string(), document: z.string().describe('Markdown.') }),
  handler: ({ name }, { guides }) => {
    const guide = guides.find(name);
    if (guide) return { name: guide.name, summary: guide.summary, document: guide.getDocument() };
    const known = guides.list().map((other) => other.name);
    const [near] = nearest(name, known);
    const hint = near === undefined ? `known: ${known.join(', ') || 'none'}.` : `did you mean "${near}"?`;
    throw new GantryError('guide_unknown', `There is no guide named "${name.slice(0, 100)}"; ${hint}`, {
      details: { name, known },
    });
  },
});
