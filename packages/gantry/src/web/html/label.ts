import { headingElements } from './element-kinds.ts';
import type { PageElement } from './page-tree.ts';
import { textOf } from './page-tree.ts';

/**
 * An element's class and id, lower case, for looking for words in them. The id of a section that repeats its heading is left out: it
 * says what the section is about ("Sharing state", "Edit menu"), not what it is for.
 */
export const labelOf = (element: PageElement): string => {
  const { class: classes, id } = element.attributes;
  if (id === undefined) return classes === undefined ? '' : classes.toLowerCase();
  const shownId = isSection(element) && isHeadingOf(element, id) ? '' : id;
  return `${classes ?? ''} ${shownId}`.toLowerCase();
};

/** Generators of documentation give sections no class, or one that says how deep they are. */
const isSection = ({ name, attributes: { class: classes } }: PageElement): boolean =>
  (name === 'section' || name === 'div') && (classes === undefined || sectionClasses.test(classes));

const sectionClasses = /^(?:section|sect\d?|refsect\d?|level\d|chapter|appendix)\b/;

const isHeadingOf = ({ children }: PageElement, id: string): boolean => {
  const heading = children.find((child) => typeof child !== 'string' && headingElements.has(child.name));
  const wanted = lettersOf(id);
  // Ids are cut short, and numbered where they repeat.
  return heading !== undefined && wanted !== '' && lettersOf(textOf(heading)).startsWith(wanted.replace(/\d+$/, ''));
};

const lettersOf = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]+/gu, '');
