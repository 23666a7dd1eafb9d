import { cutToWidth, toCell, widthOf } from './printable.ts';

/** How a table is fitted to where it is shown. */
export interface TableOptions {
  /** Width of the terminal; undefined keeps every cell whole. */
  readonly columns?: number | undefined;
  /** Dresses the heading; default not at all. */
  readonly heading?: ((line: string) => string) | undefined;
}

const gap = 2;
const leastLastWidth = 16;

/** Aligned columns under a heading. The last column is cut to the width of the terminal; the others never are. */
export const toTable = (
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  options: TableOptions = {},
): string => {
  const { columns, heading = (line) => line } = options;
  const cells = rows.map((row) => row.map(toCell));
  const last = headings.length - 1;
  const widths = headings.map((title, index) =>
    Math.max(widthOf(title), ...cells.map((row) => widthOf(row[index] ?? ''))),
  );
  const before = widths.slice(0, last).reduce((sum, width) => sum + width + gap, 0);
  const lastWidth = columns === undefined ? Infinity : Math.max(columns - before, leastLastWidth);
  const toLine = (row: readonly string[]): string =>
    row
      .map((cell, index) =>
        index === last
          ? cutToWidth(cell, lastWidth)
          : cell + ' '.repeat((widths[index] as number) - widthOf(cell) + gap),
      )
      .join('')
      .trimEnd();
  return [heading(toLine(headings)), ...cells.map(toLine)].join('\n');
};
