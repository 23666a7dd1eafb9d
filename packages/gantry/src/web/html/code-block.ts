import { blockElements } from './element-kinds.ts';
import type { PageElement } from './page-tree.ts';
import { findElement } from './page-tree.ts';

/** The text of preformatted code as it is shown: a line break for `br` and around blocks, none right after the tag. */
export const preText = (element: PageElement): string => {
  let text = '';
  const collect = (parent: PageElement): void => {
    for (const child of parent.children) {
      if (typeof child === 'string') text += child;
      else if (child.name === 'br') text += '\n';
      else if (blockElements.has(child.name)) {
        if (text !== '' && !text.endsWith('\n')) text += '\n';
        collect(child);
        if (!text.endsWith('\n')) text += '\n';
      } else if (!isGutter(child)) collect(child);
    }
  };
  collect(element);
  text = text.replaceAll('\r\n', '\n').replaceAll('\u00a0', ' ');
  const start = text.startsWith('\n') ? 1 : 0;
  let end = text.length;
  while (end > start && (text[end - 1] === '\n' || text[end - 1] === ' ')) end -= 1;
  return text.slice(start, end);
};

const isGutter = ({ attributes }: PageElement): boolean =>
  /(?:^|\s)(?:linenos?|line-?numbers?(?:-rows)?|lineno)(?:\s|$)/.test(attributes['class'] ?? '');

/** The language that a code block names in a class of its own, its code's or its wrappers'. */
export const languageOf = (pre: PageElement): string => {
  const code = findElement(pre, ({ name }) => name === 'code');
  for (const element of [code, pre, pre.parent, pre.parent?.parent]) {
    const label = `${element?.attributes['class'] ?? ''} ${element?.attributes['data-lang'] ?? ''}`;
    const found = /(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s*)([\w+#-]{1,20})/.exec(label)?.[1];
    if (found !== undefined && !notLanguages.has(found)) return found;
  }
  return '';
};

const notLanguages = new Set(['default', 'none', 'text', 'plaintext', 'plain', 'wrapper', 'notranslate', 'block']);
