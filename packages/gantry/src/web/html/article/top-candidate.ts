import { linkShare } from '../measure.ts';
import { labelOf } from '../label.ts';
import type { PageElement } from '../page-tree.ts';
import { textOf, visitElements } from '../page-tree.ts';
import { directText, isParagraph, likely, proseBelow, unlikely } from './prose.ts';

/**
 * The element that holds the running text: paragraphs give points to what holds them, by length and commas; the one with the most
 * points per link wins (the method of Readability, on this tree).
 */
export const topCandidate = (root: PageElement): PageElement | undefined => {
  const points = new Map<PageElement, number>();
  const give = (element: PageElement | undefined, score: number): void => {
    if (element) points.set(element, (points.get(element) ?? weightOf(element)) + score);
  };
  visitElements(root, (element) => {
    if (!isParagraph(element)) {
      // Paragraphs that are only parted by line breaks stand right in what holds them.
      const direct = directText(element);
      if (direct.length >= 60) {
        const score = pointsOf(direct.length, direct);
        give(element, score);
        give(element.parent, score / 2);
      }
      return;
    }
    const ownChars = element.chars - element.linkChars;
    if (ownChars < 20) return;
    const score = pointsOf(ownChars, textOf(element));
    give(element.parent, score);
    give(element.parent?.parent, score / 2);
    let at = element.parent?.parent?.parent;
    for (let level = 2; at && level < 5; level += 1, at = at.parent) give(at, score / (level * 3));
  });
  let top: PageElement | undefined;
  let best = 0;
  for (const [element, raw] of points) {
    const score = raw * (1 - linkShare(element));
    points.set(element, score);
    if (score > best) {
      top = element;
      best = score;
    }
  }
  if (!top) return undefined;
  return climb(top, proseBelow(root));
};

/** An article in pieces: goes up while what is around holds clearly more running text, and little else. */
const climb = (top: PageElement, prose: ReadonlyMap<PageElement, number>): PageElement => {
  let found = top;
  for (let at = top.parent; at && at.name !== 'body' && at.parent; at = at.parent) {
    const here = prose.get(at) ?? 0;
    if (here > (prose.get(found) ?? 0) * 1.2) found = at;
  }
  return found;
};

const pointsOf = (chars: number, text: string): number => 1 + Math.min(3, Math.floor(chars / 80)) + commasOf(text);

const commasOf = (text: string): number => {
  let count = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    // "," and its forms in Arabic, Chinese and Japanese.
    if (code === 0x2c || code === 0x60c || code === 0xff0c || code === 0x3001) count += 1;
  }
  return count;
};

const weightOf = (element: PageElement): number => {
  const { name } = element;
  const label = labelOf(element);
  let weight = name === 'div' ? 5 : name === 'form' || name === 'ul' || name === 'ol' || name === 'th' ? -3 : 0;
  if (name === 'article') weight += 10;
  if (element.attributes['itemprop'] === 'articleBody') weight += 60;
  if (likely.test(label)) weight += 25;
  if (unlikely.test(label)) weight -= 25;
  return weight;
};
