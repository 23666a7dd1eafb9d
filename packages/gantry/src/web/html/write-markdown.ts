import { languageOf, preText } from './code-block.ts';
import { blockElements, codeElements, headingElements, preElements } from './element-kinds.ts';
import type { ResolveLink } from './links.ts';
import { isDataTable, rowsOf, writeTable } from './markdown-table.ts';
import {
  codeFence,
  codeSpan,
  collapse,
  escapeLineStarts,
  escapeText,
  indent,
  mark,
  tidyParagraph,
} from './markdown-text.ts';
import type { PageElement, PageNode } from './page-tree.ts';
import { findElement, textOf, visitElements } from './page-tree.ts';

/** Lists and quotes within each other beyond this stand as plain blocks; each level copies what it holds. */
const maxNesting = 12;

/**
 * Writes what is below an element as Markdown: ATX headings, `-` lists, fenced code with its language, GFM tables, links through
 * `resolveLink`. Unknown elements are looked through, so that nothing readable is lost.
 */
export const writeMarkdown = (root: PageElement, options: { readonly resolveLink: ResolveLink }): string => {
  const { resolveLink } = options;
  const holders = blockHolders(root);
  const isBlock = (node: PageNode): node is PageElement =>
    typeof node !== 'string' && (blockElements.has(node.name) || holders.has(node));

  const blocksOf = (parent: PageElement, nesting: number): string[] => {
    const sink: string[] = [];
    writeChildren(parent, sink, nesting);
    return sink;
  };

  const writeChildren = (parent: PageElement, sink: string[], nesting: number): void => {
    let run: PageNode[] = [];
    const flush = (): void => {
      if (run.length === 0) return;
      const text = tidyParagraph(run.map(inline).join(''));
      if (text !== '') sink.push(escapeLineStarts(text));
      run = [];
    };
    for (const child of parent.children) {
      if (isBlock(child)) {
        flush();
        writeBlock(child, sink, nesting);
      } else run.push(child);
    }
    flush();
  };

  const writeBlock = (element: PageElement, sink: string[], nesting: number): void => {
    const { name } = element;
    if (headingElements.has(name)) {
      const text = oneLine(element);
      if (text !== '') sink.push(`${'#'.repeat(Number(name[1]))} ${text}`);
    } else if (preElements.has(name)) {
      const text = preText(element);
      if (text.trim() !== '') sink.push(codeFence(text, languageOf(element)));
    } else if (name === 'hr') sink.push('---');
    else if (name === 'table') writeTableBlock(element, sink, nesting);
    else if (name === 'summary' || name === 'legend' || name === 'caption') {
      const text = oneLine(element);
      if (text !== '') sink.push(mark(text, '**'));
    } else if (name === 'a') writeBlockLink(element, sink, nesting);
    else if (nesting >= maxNesting) writeChildren(element, sink, nesting);
    else if (name === 'ul' || name === 'ol' || name === 'menu' || name === 'dir') writeList(element, sink, nesting);
    else if (name === 'li') writeItem(element, '- ', sink, nesting);
    else if (name === 'dl') writeDefinitions(element, sink, nesting);
    else if (name === 'dd') writeItem(element, '  ', sink, nesting);
    else if (name === 'blockquote') {
      const text = blocksOf(element, nesting + 1).join('\n\n');
      if (text !== '') sink.push(indent(text, '> ', '> ').replaceAll(/^> $/gm, '>'));
    } else writeChildren(element, sink, nesting);
  };

  const writeItem = (element: PageElement, marker: string, sink: string[], nesting: number): boolean => {
    const blocks = blocksOf(element, nesting + 1);
    const [first, ...rest] = blocks;
    if (first === undefined) return false;
    // A list right below its own line needs no blank line between.
    const text = rest.reduce((text, block) => `${text}${isListBlock(block) ? '\n' : '\n\n'}${block}`, first);
    sink.push(indent(text, marker, ' '.repeat(marker.length)));
    return rest.length > 0 && !rest.every(isListBlock);
  };

  const writeList = (list: PageElement, sink: string[], nesting: number): void => {
    const items: string[] = [];
    let isLoose = false;
    const start = Number(list.attributes['start'] ?? 1);
    let number = Number.isInteger(start) ? start : 1;
    for (const child of list.children) {
      if (typeof child === 'string') {
        const text = tidyParagraph(inline(child));
        if (text !== '') items.push(`- ${text}`);
        continue;
      }
      const before = items.length;
      if (child.name === 'li') {
        const marker = list.name === 'ol' ? `${number}. ` : '- ';
        isLoose = writeItem(child, marker, items, nesting) || isLoose;
      } else if (child.name === 'ul' || child.name === 'ol') {
        // A list directly in a list belongs to the item before it.
        const inner: string[] = [];
        writeList(child, inner, nesting + 1);
        for (const block of inner) items.push(indent(block, '  ', '  '));
      } else if (isBlock(child)) writeBlock(child, items, nesting + 1);
      else isLoose = writeItem(child, '- ', items, nesting) || isLoose;
      if (items.length > before) number += 1;
    }
    if (items.length > 0) sink.push(items.join(isLoose ? '\n\n' : '\n'));
  };

  const writeDefinitions = (list: PageElement, sink: string[], nesting: number): void => {
    for (const child of list.children) {
      if (typeof child === 'string') continue;
      if (child.name === 'dt') {
        const text = oneLine(child);
        if (text !== '') sink.push(`- ${text}`);
      } else if (child.name === 'dd') writeItem(child, '  ', sink, nesting);
      else if (child.name === 'div') writeDefinitions(child, sink, nesting);
      else writeBlock(child, sink, nesting);
    }
  };

  const writeTableBlock = (table: PageElement, sink: string[], nesting: number): void => {
    const rows = rowsOf(table);
    if (!isDataTable(table, rows)) {
      writeChildren(table, sink, nesting);
      return;
    }
    for (const child of table.children)
      if (typeof child !== 'string' && child.name === 'caption') writeBlock(child, sink, nesting);
    sink.push(writeTable(rows, cellText));
  };

  const writeBlockLink = (element: PageElement, sink: string[], nesting: number): void => {
    const blocks = blocksOf(element, nesting);
    const target = resolveLink(element.attributes['href'] ?? '');
    const index = blocks.findIndex((block) => !block.includes('\n') && !block.includes(']('));
    if (target !== undefined && index !== -1)
      blocks[index] = (blocks[index] as string).replace(
        /^(#{1,6} |- )?(.*)$/,
        `$1[$2](${target.replaceAll('$', '$$$$')})`,
      );
    for (const block of blocks) sink.push(block);
  };

  const inline = (node: PageNode): string => {
    if (typeof node === 'string') return escapeText(collapse(node));
    const { name, attributes } = node;
    if (name === 'br') return '\n';
    if (name === 'wbr') return '';
    if (name === 'img') return writeImage(attributes);
    if (codeElements.has(name) && name !== 'var') return codeSpan(collapse(textOf(node)));
    if (name === 'math') return writeMath(node);
    const text = inlineChildren(node);
    switch (name) {
      case 'a':
        return writeLink(text, attributes);
      case 'strong':
      case 'b':
        return text.includes('**') ? text : mark(text, '**');
      case 'em':
      case 'i':
      case 'cite':
        return text.includes('*') ? text : mark(text, '*');
      case 'del':
      case 's':
      case 'strike':
        return mark(text, '~~');
      case 'q':
        return `“${text}”`;
      case 'sup':
        return /^[\w+−–-]{1,12}$/.test(text) ? `^${text}` : text;
      default:
        return isBlock(node) ? ` ${text} ` : text;
    }
  };

  const inlineChildren = (element: PageElement): string => element.children.map(inline).join('');

  const oneLine = (element: PageElement): string =>
    inlineChildren(element).replaceAll('\n', ' ').replaceAll(/ {2,}/g, ' ').trim();

  const cellText = (cell: PageElement): string => {
    const blocks: string[] = [];
    writeCell(cell, blocks);
    return blocks.join('<br>').replaceAll(/ *\n */g, '<br>');
  };

  const writeCell = (element: PageElement, sink: string[]): void => {
    let run = '';
    const flush = (): void => {
      const text = tidyParagraph(run);
      if (text !== '') sink.push(text);
      run = '';
    };
    for (const child of element.children) {
      if (!isBlock(child)) {
        run += inline(child);
        continue;
      }
      flush();
      if (preElements.has(child.name)) {
        for (const line of preText(child).split('\n')) if (line.trim() !== '') sink.push(codeSpan(line));
      } else if (child.name === 'li') {
        const inner: string[] = [];
        writeCell(child, inner);
        if (inner.length > 0) sink.push(`- ${inner.join(' ')}`);
      } else writeCell(child, sink);
    }
    flush();
  };

  const writeLink = (text: string, attributes: PageElement['attributes']): string => {
    const label = text.trim() === '' ? collapse(attributes['aria-label'] ?? attributes['title'] ?? '') : text;
    if (label.trim() === '') return text;
    const href = attributes['href'] ?? '';
    if (href.startsWith('#') && permalink.test(label.trim())) return '';
    const target = resolveLink(href);
    if (target === undefined) return label;
    const inner = label.trim().replaceAll('\n', ' ');
    return `${leading(label)}[${inner}](${target})${trailing(label)}`;
  };

  const writeImage = (attributes: PageElement['attributes']): string => {
    if (attributes['width'] === '1' || attributes['height'] === '1') return '';
    const alt = collapse(attributes['alt'] ?? '')
      .replaceAll(/[[\]]/g, '')
      .trim();
    const src = [attributes['src'], attributes['data-src'], attributes['data-original']].find(
      (candidate) => candidate !== undefined && candidate !== '' && !candidate.startsWith('data:'),
    );
    const target = src === undefined ? undefined : resolveLink(src);
    if (alt === '') return '';
    return target === undefined ? alt : `![${alt}](${target})`;
  };

  return blocksOf(root, 0).join('\n\n');
};

const permalink = /^[¶#§🔗]$/u;
const leading = (text: string): string => (/^\s/.test(text) ? ' ' : '');
const trailing = (text: string): string => (/\s$/.test(text) ? ' ' : '');
const isListBlock = (block: string): boolean => /^(?:- |\d+\. )/.test(block);

/** Elements that are inline by name but hold a block somewhere below, so that they are looked through. */
const blockHolders = (root: PageElement): ReadonlySet<PageElement> => {
  const holders = new Set<PageElement>();
  visitElements(root, (element) => {
    if (!blockElements.has(element.name)) return;
    for (let at = element.parent; at && !blockElements.has(at.name) && !holders.has(at); at = at.parent)
      holders.add(at);
  });
  return holders;
};

const writeMath = (element: PageElement): string => {
  const annotation = findElement(
    element,
    ({ name, attributes }) => name === 'annotation' && /tex/i.test(attributes['encoding'] ?? ''),
  );
  const tex = element.attributes['alttext'] ?? (annotation && textOf(annotation));
  return tex === undefined ? collapse(textOf(element)) : `$${collapse(tex).trim()}$`;
};
