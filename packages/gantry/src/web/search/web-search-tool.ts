import * as z from 'zod';
import { defineTool } from '../../tool/define-tool.ts';
import type { CallContext } from '../../tool/context.ts';
import { rulesOf } from '../../tool/context.ts';
import type { Tool } from '../../tool/executor.ts';
import type { ToolRegistration } from '../../tool/registration.ts';
import type { AttachImages } from './attach-images.ts';
import type { SearchChain } from './search-chain.ts';
import type { SafeSearch, SearchCategory } from './search-engine.ts';
import { searchCategories } from './search-engine.ts';
import { describeAnswer, describeImages } from './search-text.ts';

/** What the tool is made of. */
export interface WebSearchOptions {
  readonly chain: SearchChain;
  /** Results of a search that asks for no number. */
  readonly maxSearchResults: number;
  /** Operator's choice; absent = each engine's usual. */
  readonly safeSearch?: SafeSearch | undefined;
  /** Language of searches that name none. */
  readonly language?: string | undefined;
  /** Keeps images that were found as files; absent = they are only listed. */
  readonly attachImages?: AttachImages | undefined;
}

const mostResults = 20;
const usualImages = 3;
const mostImages = 10;
const leastCandidates = 10;
const mostCandidates = 30;

/** Whether a file in the shared folder is of use to this caller. People at a command line get links, which they can open. */
const takesFiles = ({ caller, sharesFolder = false }: CallContext): boolean => {
  const { pathsForAttachments } = rulesOf(caller);
  return (
    caller !== 'operator' && (pathsForAttachments === true || (pathsForAttachments === 'if-shared' && sharesFolder))
  );
};

const isCategory = (value: unknown): value is SearchCategory => searchCategories.some((category) => category === value);

/** A number of results within the limits; what is no number counts as not given. */
const toCount = (value: unknown): number | undefined => {
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof count === 'number' && Number.isFinite(count)
    ? Math.min(mostResults, Math.max(1, Math.floor(count)))
    : undefined;
};

const input = z.strictObject({
  query: z.string().trim().min(1, 'query must say what to search for').describe('What to search for.'),
  category: z.preprocess((value) => (isCategory(value) ? value : 'text'), z.enum(searchCategories).optional()),
  count: z.preprocess(toCount, z.number().optional()),
  language: z
    .string()
    .regex(/^[a-z]{2}$/, 'two lower-case letters, such as "en" or "de"')
    .optional(),
});

/** Makes `web_search`: one tool over all engines, fitted to each turn to what can be searched for then. */
export const webSearchTool = (options: WebSearchOptions): Tool => {
  const { chain, maxSearchResults, safeSearch, attachImages } = options;
  const variants = new Map<string, ToolRegistration>();
  const tool = defineTool({
    name: 'web_search',
    source: 'web',
    category: 'web',
    family: 'web_search',
    description:
      'Searches the web and returns a numbered list of links with a snippet each. Read a page with web_browse before you rely on what it says.',
    annotations: { readOnlyHint: true, openWorldHint: true },
    requiresFollowUp: true,
    timeoutMs: 60_000,
    input,
    assemble: ({ workspace }) => {
      const categories = chain.categories(workspace);
      const key = categories.join();
      const known = variants.get(key);
      if (known) return known;
      const variant = fitTo(registration, categories, maxSearchResults);
      variants.set(key, variant);
      return variant;
    },
    execute: async ({ query, category = 'text', count, language = options.language }, context) => {
      const { workspace, signal } = context;
      let told = false;
      const onEngine = (engine: string): void => {
        if (!told) context.onProgress?.({ progress: 0, message: `Searching with ${engine}` });
        told = true;
      };
      const request = { query, category, count: count ?? maxSearchResults, safeSearch, language, workspace, signal };
      if (!attachImages || category !== 'image' || !takesFiles(context))
        return describeAnswer(await chain.search(request, onEngine), request.count);
      const wanted = Math.min(mostImages, count ?? usualImages);
      // Many of the images that engines know are gone, or are no images.
      const pool = Math.min(mostCandidates, Math.max(leastCandidates, wanted * 3));
      const answer = await chain.search({ ...request, count: pool }, onEngine);
      const images = await attachImages(answer.hits, { wanted, signal });
      if (images.length === 0) return describeAnswer(answer, request.count);
      const attachments = images.map(({ attachment }) => attachment);
      return { status: 'done', parts: [{ type: 'text', text: describeImages(images) }], attachments };
    },
  });
  // The schema that checks arguments forgives more than the one that is shown asks for.
  const registration = fitTo(tool.registration, searchCategories, maxSearchResults);
  return { ...tool, registration };
};

const fitTo = (
  registration: ToolRegistration,
  categories: readonly SearchCategory[],
  usualCount: number,
): ToolRegistration => {
  const onlyText = categories.length === 1;
  return {
    ...registration,
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'What to search for.' },
        category: {
          type: 'string',
          enum: [...categories],
          description: onlyText
            ? 'What to search for: only text is available this turn.'
            : 'What kind of thing to search for; default text.',
        },
        count: {
          type: 'integer',
          minimum: 1,
          maximum: mostResults,
          description: `How many results; default ${usualCount}.`,
        },
        language: { type: 'string', description: 'Two-letter language of the results, such as "en" or "de".' },
      },
      required: ['query'],
      additionalProperties: false,
    },
  };
};
