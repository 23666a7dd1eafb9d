import * as z from 'zod';
import { defineTool } from '../../tool/define-tool.ts';
import type { Tool } from '../../tool/executor.ts';
import type { SearchServices } from './service-search.ts';

const mostResults = 5;

/** `search_known_services`: which server or agent is the one for a task. Offered while there is any. */
export const serviceSearchTool = (search: SearchServices, hasServices: () => boolean): Tool =>
  defineTool({
    name: 'search_known_services',
    description:
      'Finds the connected servers and known agents that fit a task described in a few words, best first, each with its tools or skills that fit best. For choosing where to look; mcp_find_tools gives the tools themselves with their parameters. relevance_score compares with the best result only.',
    source: 'discovery',
    available: hasServices,
    annotations: { readOnlyHint: true, openWorldHint: false },
    input: z.strictObject({
      query: z.string().trim().min(1).max(2_000).describe('What is to be done, in a few words.'),
    }),
    execute: ({ query }, context) => {
      const results = search(query, mostResults, context).map(({ id, type, summary, relevance, top }) => ({
        id,
        type,
        summary,
        relevance_score: relevance,
        ...(type === 'mcp' ? { top_tools: top } : { top_skills: top }),
      }));
      const found = JSON.stringify({ results });
      return results.length > 0
        ? found
        : `${found}\nNothing fits. Try other words, or look through all of them with mcp_list_services.`;
    },
  });
