import type { PageElement } from './page-tree.ts';
import { findElement } from './page-tree.ts';
import { headingElements } from './element-kinds.ts';

const maxColumns = 100;

/** The rows of a table with the cells in their order; nested tables keep theirs. */
export const rowsOf = (table: PageElement): PageElement[][] => {
  const rows: PageElement[][] = [];
  const collect = (element: PageElement): void => {
    for (const child of element.children) {
      if (typeof child === 'string') continue;
      if (child.name === 'tr') {
        const cells = child.children.filter(
          (cell): cell is PageElement =>
            typeof cell !== 'string' && (cell.name === 'td' || cell.name === 'th') && !isLineNumbers(cell),
        );
        if (cells.length > 0) rows.push(cells);
      } else if (sections.has(child.name)) collect(child);
    }
  };
  collect(table);
  return rows;
};

/** True when the rows hold data; false when the table only arranges the page, so that its cells are read one after the other. */
export const isDataTable = (table: PageElement, rows: readonly PageElement[][]): boolean => {
  const { role } = table.attributes;
  if (role === 'presentation' || role === 'none') return false;
  // One column arranges a page, unless it has a heading of its own.
  if (!rows.some((cells) => cells.length > 1) && !(rows.length > 1 && rows[0]?.[0]?.name === 'th')) return false;
  // So does a single row that holds blocks: notes of documentation, with their sign in the first cell.
  const isLayout = (name: string): boolean => headingElements.has(name) || (rows.length === 1 && blocks.has(name));
  return findElement(table, ({ name }) => name === 'table' || isLayout(name)) === undefined;
};

/** A GFM table. Cells that span get empty ones beside or below them, so that columns stay columns. */
export const writeTable = (rows: readonly PageElement[][], cellText: (cell: PageElement) => string): string => {
  const grid: string[][] = [];
  const open: number[] = [];
  let width = 0;
  for (const cells of rows) {
    const line: string[] = [];
    const skipSpanned = (): void => {
      while ((open[line.length] ?? 0) > 0) {
        open[line.length] = (open[line.length] ?? 1) - 1;
        line.push('');
      }
    };
    for (const cell of cells) {
      skipSpanned();
      if (line.length >= maxColumns) break;
      const columns = spanOf(cell, 'colspan');
      const below = spanOf(cell, 'rowspan') - 1;
      for (let column = 0; column < columns && line.length < maxColumns; column += 1) {
        open[line.length] = below;
        line.push(column === 0 ? cellText(cell).replaceAll('|', '\\|') : '');
      }
    }
    skipSpanned();
    grid.push(line);
    width = Math.max(width, line.length);
  }
  const lines = grid.map((line) => `| ${[...line, ...Array<string>(width - line.length).fill('')].join(' | ')} |`);
  lines.splice(1, 0, `|${' --- |'.repeat(width)}`);
  return lines.join('\n');
};

const blocks = new Set(['pre', 'ul', 'ol', 'dl', 'blockquote']);
const sections = new Set(['thead', 'tbody', 'tfoot']);

const isLineNumbers = ({ attributes }: PageElement): boolean =>
  /(?:^|\s)(?:linenos?|gutter|line-?numbers?|blob-num)(?:\s|$)/.test(attributes['class'] ?? '');

const spanOf = ({ attributes }: PageElement, name: 'colspan' | 'rowspan'): number => {
  const span = Number(attributes[name] ?? 1);
  return Number.isInteger(span) && span > 1 ? Math.min(span, maxColumns) : 1;
};
