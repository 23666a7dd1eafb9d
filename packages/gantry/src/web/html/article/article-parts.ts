import { isLabelledClutter } from './article-clutter.ts';
import { linkShare } from '../measure.ts';
import { labelOf } from '../label.ts';
import type { PageElement } from '../page-tree.ts';
import { textOf, visitElements } from '../page-tree.ts';
import { isParagraph } from './prose.ts';

/** The candidate and those of its neighbours that read as parts of the same text, in the order of the page. */
export const withNeighbours = (top: PageElement): PageElement[] => {
  const siblings = (top.parent?.children ?? [top]).filter((sibling) => typeof sibling !== 'string');
  const reads = siblings.map((sibling) => sibling === top || isPart(sibling, top));
  const [first, last] = [reads.indexOf(true), reads.lastIndexOf(true)];
  return siblings.filter(
    (sibling, index) => reads[index] === true || (index > first && index < last && isBetween(sibling)),
  );
};

/** What stands between the headline and the running text and introduces it: a lead, a standfirst, a summary. */
export const leadsBefore = (first: PageElement, root: PageElement): PageElement[] => {
  let leads: PageElement[] | undefined;
  let isDone = false;
  visitElements(root, (element) => {
    if (element === first) isDone = true;
    if (isDone) return false;
    if (element.name === 'h1') {
      leads = [];
      return false;
    }
    if (!leads) return true;
    if (!isLead(element)) return element.name !== 'figure' && !isLabelledClutter(element);
    leads.push(element);
    return false;
  });
  return isDone && leads && leads.length <= maxLeads ? leads : [];
};

const maxLeads = 8;

const isLead = (element: PageElement): boolean => {
  const { chars } = element;
  if (chars < 40 || chars > 2_000 || linkShare(element) > 0.3) return false;
  return isParagraph(element) || (element.name === 'h2' && chars > 60);
};

/** Headings, lists, tables and code that stand between two parts belong to the text as well. */
const isBetween = (element: PageElement): boolean =>
  between.has(element.name) && linkShare(element) <= 0.5 && !isLabelledClutter(element);

const between = new Set('h2 h3 h4 h5 h6 ul ol dl table figure pre blockquote'.split(' '));

const isPart = (sibling: PageElement, top: PageElement): boolean => {
  const { chars } = sibling;
  const links = linkShare(sibling);
  if (sibling.name === 'p' || sibling.name === 'blockquote' || sibling.name === 'pre')
    return chars > 60 ? links < 0.25 : chars > 0 && links === 0 && /[.!?]\s*$/.test(textOf(sibling));
  const label = labelOf(sibling);
  return (
    sibling.name === top.name &&
    label.trim() !== '' &&
    sibling.attributes['class'] === top.attributes['class'] &&
    chars > 150 &&
    links < 0.3 &&
    !isLabelledClutter(sibling)
  );
};
