/** A line of an answer, and what it stands in. */
export interface TextLine {
  readonly text: string;
  /** Where it begins in the whole text. */
  readonly start: number;
  /** Inside of a block of code, or a line that begins or ends one. */
  readonly isFenced: boolean;
  /** A quotation: begins with `>`. */
  readonly isQuotation: boolean;
}

const fence = /^(?:`{3,}|~{3,})/;

/** The lines of a text in Markdown, without their ends. */
export const toTextLines = (text: string): readonly TextLine[] => {
  const lines: TextLine[] = [];
  let start = 0;
  let open: string | undefined;
  for (const line of text.split('\n')) {
    const trimmed = line.trimStart();
    const [mark] = fence.exec(trimmed) ?? [];
    const isFenced = open !== undefined || mark !== undefined;
    if (open === undefined) open = mark;
    else if (mark?.startsWith(open) && trimmed.trimEnd() === mark) open = undefined;
    lines.push({ text: line, start, isFenced, isQuotation: trimmed.startsWith('>') });
    start += line.length + 1;
  }
  return lines;
};
