import { Parser } from 'htmlparser2';
import { stripTags } from './strip-tags.ts';

/** An element of a page. Texts are plain strings among its children; nothing but the tree is kept. */
export interface PageElement {
  /** Lower case. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  parent: PageElement | undefined;
  children: PageNode[];
  /** Characters below that are not white space, as `measureTree` counted them last. */
  chars: number;
  /** Those of them that stand in links. */
  linkChars: number;
}

/** An element, or a run of text. */
export type PageNode = PageElement | string;

/** A parsed page. */
export interface PageTree {
  readonly root: PageElement;
  /** False when the page was too deep or too large for the tree; its remaining text stands at the end, without markup. */
  readonly complete: boolean;
  /** How many script elements there were; their text is not kept, except for data in JSON-LD. */
  readonly scripts: number;
}

/** Deeper elements hang at the deepest that is kept; what walks the tree may therefore recurse. */
const maxDepth = 256;
/** The parser's own stack costs time by the square of its height. */
const maxIgnoredDepth = 4_000;
const maxNodes = 1_000_000;

class PageTooLarge extends Error {}

/** Parses any text as HTML, without ever failing: what is no markup is text. */
export const parsePage = (html: string): PageTree => {
  const root = toElement('#page', {});
  const builder = createBuilder(root);
  const parser = new Parser(builder.handler, { decodeEntities: true });
  try {
    parser.write(html);
    parser.end();
    return { root, complete: true, scripts: builder.scripts() };
  } catch (thrown) {
    if (!(thrown instanceof PageTooLarge)) throw thrown;
    root.children.push(stripTags(html.slice(parser.endIndex + 1)));
    return { root, complete: false, scripts: builder.scripts() };
  }
};

const createBuilder = (root: PageElement) => {
  let current = root;
  let depth = 0;
  let ignored = 0;
  let nodes = 0;
  let scripts = 0;
  const frames = new Set<string>();
  const count = (): void => {
    nodes += 1;
    if (nodes > maxNodes) throw new PageTooLarge();
  };
  return {
    scripts: () => scripts,
    handler: {
      onopentag: (name: string, attributes: Record<string, string>) => {
        if (depth >= maxDepth) {
          ignored += 1;
          if (ignored > maxIgnoredDepth) throw new PageTooLarge();
          return;
        }
        count();
        if (name === 'script') scripts += 1;
        // Pages pasted into pages: what HTML ignores stays as a plain wrapper.
        const isAgain = (name === 'body' || name === 'html') && frames.has(name);
        if (name === 'body' || name === 'html') frames.add(name);
        const element = toElement(isAgain ? 'div' : name, hasAny(attributes) ? attributes : none, current);
        add(current, element);
        current = element;
        depth += 1;
      },
      onclosetag: () => {
        if (ignored > 0) {
          ignored -= 1;
          return;
        }
        // An array that grew by one after the other has room for many more; most elements get none.
        if (current.children.length > 1) current.children = current.children.slice();
        current = current.parent ?? root;
        depth -= 1;
      },
      ontext: (text: string) => {
        if (isDropped(current)) return;
        const { children } = current;
        const last = children.length - 1;
        if (typeof children[last] === 'string') children[last] += text;
        else {
          count();
          add(current, text);
        }
      },
    },
  };
};

// A large page has hundreds of thousands of elements, so what each of them takes decides how much memory the page needs.
const add = (element: PageElement, child: PageNode): void => {
  if (element.children.length === 0) element.children = [child];
  else element.children.push(child);
};
const none: Readonly<Record<string, string>> = Object.freeze({});
const hasAny = (attributes: Readonly<Record<string, string>>): boolean => {
  for (const _name in attributes) return true;
  return false;
};

/** An element without content. */
export const toElement = (
  name: string,
  attributes: Readonly<Record<string, string>>,
  parent?: PageElement,
): PageElement => ({
  name,
  attributes,
  parent,
  children: [],
  chars: 0,
  linkChars: 0,
});

const isDropped = ({ name, attributes }: PageElement): boolean =>
  name === 'style' || (name === 'script' && attributes['type'] !== 'application/ld+json');

/** The first element of the tree, in document order, that a test accepts. */
export const findElement = (
  element: PageElement,
  accepts: (candidate: PageElement) => boolean,
): PageElement | undefined => {
  for (const child of element.children) {
    if (typeof child === 'string') continue;
    if (accepts(child)) return child;
    const found = findElement(child, accepts);
    if (found) return found;
  }
  return undefined;
};

/** Visits every element below one, outer before inner, until the visitor says `false`, which leaves out what is below. */
export const visitElements = (element: PageElement, visit: (child: PageElement) => boolean | void): void => {
  for (const child of element.children)
    if (typeof child !== 'string' && visit(child) !== false) visitElements(child, visit);
};

/** All text below an element, as it stands. */
export const textOf = (node: PageNode): string => {
  if (typeof node === 'string') return node;
  const pieces: string[] = [];
  const collect = (element: PageElement): void => {
    for (const child of element.children) {
      if (typeof child === 'string') pieces.push(child);
      else collect(child);
    }
  };
  collect(node);
  return pieces.join('');
};
