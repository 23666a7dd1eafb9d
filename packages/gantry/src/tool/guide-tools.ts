import * as z from 'zod';
import { defineTool } from './define-tool.ts';
import type { Tool } from './executor.ts';
import type { GuideShelf } from './guide.ts';

/** The two tools through which a model reads the guides: `list_tool_guides` and `get_tool_guide`. */
export const guideTools = (shelf: GuideShelf): readonly Tool[] => [
  defineTool({
    name: 'list_tool_guides',
    description:
      'Lists the usage guides of the tool families that are available here, each with one line. Read a guide with get_tool_guide before you use a family for the first time.',
    source: 'guides',
    annotations: { readOnlyHint: true },
    input: z.strictObject({}),
    execute: () => {
      const guides = shelf.list();
      if (guides.length === 0) return 'No tool guides are registered.';
      return [`${guides.length} tool guide(s):`, ...guides.map((guide) => `- ${guide.name}: ${guide.summary}`)].join(
        '\n',
      );
    },
  }),
  defineTool({
    name: 'get_tool_guide',
    description: 'Returns the full usage guide of one tool family as Markdown.',
    source: 'guides',
    annotations: { readOnlyHint: true },
    input: z.strictObject({ name: z.string().describe('The name of a guide, as list_tool_guides shows it.') }),
    execute: ({ name }, context) => {
      const guide = shelf.find(name);
      if (guide) return guide.getDocument(context);
      const names = shelf.list().map((known) => known.name);
      return names.length === 0
        ? `There is no tool guide named "${name}"; no guides are registered.`
        : `There is no tool guide named "${name}". Available guides: ${names.join(', ')}.`;
    },
  }),
];
