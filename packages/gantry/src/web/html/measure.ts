import type { PageElement } from './page-tree.ts';

/** Counts the text of every element below `root`, and of `root`, anew: `chars` and `linkChars`. */
export const measureTree = (root: PageElement): void => measure(root, false);

const measure = (element: PageElement, inLink: boolean): void => {
  let chars = 0;
  let linkChars = 0;
  for (const child of element.children) {
    if (typeof child === 'string') {
      const count = inkOf(child);
      chars += count;
      if (inLink) linkChars += count;
    } else {
      measure(child, inLink || child.name === 'a');
      chars += child.chars;
      linkChars += child.linkChars;
    }
  }
  element.chars = chars;
  element.linkChars = linkChars;
};

/** How many characters of a text are not white space. */
const inkOf = (text: string): number => {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code > 32 && code !== 0xa0) count += 1;
  }
  return count;
};

/** The share of an element's characters that stand in links, 0 to 1. */
export const linkShare = ({ chars, linkChars }: PageElement): number => (chars === 0 ? 0 : linkChars / chars);
