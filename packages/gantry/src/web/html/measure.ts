import type { Measure, PageElement } from './page-tree.ts';

/** The measures of the elements of one tree, as they were counted last. */
export interface Measures {
  get(element: PageElement): Measure | undefined;
}

// Kept on the elements: a map of them would cost more than the counting.
const onElements: Measures = { get: (element) => element.measure };
const nothing: Measure = { chars: 0, linkChars: 0 };

/** Measures every element below `root`, and `root`. */
export const measureTree = (root: PageElement): Measures => {
  measure(root, false);
  return onElements;
};

const measure = (element: PageElement, inLink: boolean): Measure => {
  let chars = 0;
  let linkChars = 0;
  for (const child of element.children) {
    if (typeof child === 'string') {
      const count = inkOf(child);
      chars += count;
      if (inLink) linkChars += count;
    } else {
      const below = measure(child, inLink || child.name === 'a');
      chars += below.chars;
      linkChars += below.linkChars;
    }
  }
  return (element.measure = chars === 0 ? nothing : { chars, linkChars });
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
