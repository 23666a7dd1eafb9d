import { flattenText } from '../../../text/flatten.ts';
import type { Surface } from './surface.ts';

const shownNames = 10;

/** One line on what a server offers: how many tools, prompts and resources, and the first names. */
export const describeSurface = ({ tools, prompts, resources, templates }: Surface): string => {
  const resourceCount = resources.length + templates.length;
  const sentences = [
    tools.length > 0 ? counted('tool', tools) : '',
    prompts.length > 0 ? counted('prompt template', prompts) : '',
    resourceCount > 0 ? `${resourceCount} resource${resourceCount === 1 ? '' : 's'}.` : '',
  ].filter(Boolean);
  return sentences.join(' ') || 'Offers nothing at present.';
};

const counted = (noun: string, items: readonly { readonly name: string }[]): string => {
  const names = items.slice(0, shownNames).map(({ name }) => flattenText(name, { maxChars: 80 }));
  const more = items.length > shownNames ? ` and ${items.length - shownNames} more` : '';
  return `${items.length} ${noun}${items.length === 1 ? '' : 's'}: ${names.join(', ')}${more}.`;
};
