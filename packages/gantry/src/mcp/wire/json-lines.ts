/** A line that was too long to keep: its beginning and its end, where the id of a message stands. */
export interface OverlongLine {
  readonly head: string;
  readonly tail: string;
}

/** What a {@link createLineReader} hands on. */
export interface LineSink {
  /** A whole line without its line end. */
  line(text: string): void;
  overlong(line: OverlongLine): void;
}

const keptChars = 1_024;

/**
 * Cuts a byte stream into lines, however the chunks fall. Lines up to `maxBytes` are given whole; of longer ones only head and tail are
 * kept, and reading goes on with the next line.
 */
export const createLineReader = (maxBytes: number, sink: LineSink): ((chunk: Buffer) => void) => {
  let parts: Buffer[] = [];
  let bytes = 0;
  let overlong: { head: string; tail: string } | undefined;

  const keep = (part: Buffer): void => {
    if (overlong) {
      overlong.tail = (overlong.tail + part.subarray(-keptChars).toString('latin1')).slice(-keptChars);
      return;
    }
    parts.push(part);
    bytes += part.length;
    if (bytes <= maxBytes) return;
    const all = Buffer.concat(parts);
    overlong = {
      head: all.subarray(0, keptChars).toString('latin1'),
      tail: all.subarray(-keptChars).toString('latin1'),
    };
    parts = [];
  };

  const finish = (): void => {
    if (overlong) sink.overlong(overlong);
    else sink.line(Buffer.concat(parts, bytes).toString('utf8').replace(/\r$/, ''));
    parts = [];
    bytes = 0;
    overlong = undefined;
  };

  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, start)) {
      keep(chunk.subarray(start, end));
      finish();
      start = end + 1;
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  };
};

/**
 * The id of a message that was too long: a number or one of the short texts that clients use. Serialisers put it first or last;
 * undefined when it is elsewhere.
 */
export const idOfOverlong = ({ head, tail }: OverlongLine): string | number | undefined => {
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+|"[^"\\]{1,100}")/.exec(head) ??
    /"id"\s*:\s*(\d+|"[^"\\]{1,100}")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  return found ? (JSON.parse(found[1] as string) as string | number) : undefined;
};
