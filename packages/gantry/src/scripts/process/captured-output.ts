/** Keeps the beginning and the end of a stream in bounded memory. */
export interface CapturedOutput {
  add(chunk: Uint8Array): void;
  /** All bytes that came, kept or not. */
  readonly totalBytes: number;
  /** What was kept, cut at character borders; a line between beginning and end says how much is missing. */
  toText(): string;
}

/** Captures at most `keptBytes`: three quarters from the beginning, the rest from the end. */
export const captureOutput = (keptBytes: number): CapturedOutput => {
  const headBytes = Math.ceil(keptBytes * 0.75);
  const tailBytes = keptBytes - headBytes;
  const head: Buffer[] = [];
  let headLength = 0;
  let tail: Buffer | undefined;
  // Where the next byte goes; everything before it, wrapping around, is the end of the stream.
  let tailAt = 0;
  let total = 0;

  const addToTail = (chunk: Uint8Array): void => {
    if (tailBytes === 0) return;
    tail ??= Buffer.allocUnsafe(tailBytes);
    const last = chunk.subarray(Math.max(0, chunk.length - tailBytes));
    const fits = Math.min(last.length, tailBytes - tailAt);
    tail.set(last.subarray(0, fits), tailAt);
    tail.set(last.subarray(fits), 0);
    tailAt = (tailAt + last.length) % tailBytes;
  };

  const readTail = (): Buffer => {
    const length = Math.min(total - headLength, tailBytes);
    if (!tail || length === 0) return Buffer.alloc(0);
    return length < tailBytes
      ? tail.subarray(0, length)
      : Buffer.concat([tail.subarray(tailAt), tail.subarray(0, tailAt)]);
  };

  return {
    add: (chunk) => {
      total += chunk.length;
      const room = Math.min(headBytes - headLength, chunk.length);
      if (room > 0) {
        // A copy, since a view would keep the whole chunk of the stream in memory.
        head.push(Buffer.from(chunk.subarray(0, room)));
        headLength += room;
      }
      if (room < chunk.length) addToTail(chunk.subarray(room));
    },
    get totalBytes() {
      return total;
    },
    toText: () => {
      const end = readTail();
      const missing = total - headLength - end.length;
      const start = Buffer.concat(head);
      if (missing <= 0) return Buffer.concat([start, end]).toString('utf8');
      const first = start.subarray(0, lastBorder(start));
      const rest = end.subarray(firstBorder(end));
      const left = total - first.length - rest.length;
      return `${first.toString('utf8')}\n[… ${left} of ${total} bytes left out here …]\n${rest.toString('utf8')}`;
    },
  };
};

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80;

/** Index after the last whole character. */
const lastBorder = (bytes: Buffer): number => {
  let at = bytes.length;
  let steps = 0;
  while (at > 0 && steps < 3 && isContinuation(bytes[at - 1])) {
    at -= 1;
    steps += 1;
  }
  const lead = bytes[at - 1];
  if (lead === undefined || lead < 0xc0) return bytes.length;
  const needed = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
  return steps === needed ? bytes.length : at - 1;
};

/** Index of the first character that is not the rest of a cut one. */
const firstBorder = (bytes: Buffer): number => {
  let at = 0;
  while (at < 3 && isContinuation(bytes[at])) at += 1;
  return at;
};
