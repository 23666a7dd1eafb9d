/** One event of a stream. */
export interface EventText {
  /** Exactly as it was written, with the empty line behind it. */
  readonly text: string;
  /** The data in it; empty for an event that has none. */
  readonly data: string;
}

/** Whether an answer is a stream of events, in any spelling of its type. */
export const isEventStream = (headers: Headers): boolean =>
  (headers.get('content-type') ?? '').toLowerCase().includes('text/event-stream');

/**
 * Cuts a server-sent-event stream into its events (WHATWG HTML, "Server-sent events"): an empty line ends one, whichever line ends are
 * used. Every piece is looked at once, however long an event is. What follows the last empty line comes as an event too.
 */
export async function* eventTexts(body: AsyncIterable<Uint8Array>): AsyncGenerator<EventText> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  const cut = createCutter();
  for await (const chunk of body)
    for (const text of cut.add(decoder.decode(chunk, { stream: true }))) yield toEvent(text);
  for (const text of cut.add(decoder.decode())) yield toEvent(text);
  const rest = cut.rest();
  if (rest !== '') yield toEvent(rest);
}

/** The event with other data; its other lines, such as its id, are kept. */
export const withData = ({ text }: Pick<EventText, 'text'>, data: string): string => {
  const lines = linesOf(text).filter((line) => line !== '' && dataIn(line) === undefined);
  return `${[...lines, `data: ${data}`].join('\n')}\n\n`;
};

/** An event that carries one message. */
export const messageEvent = (data: string): string => `event: message\ndata: ${data}\n\n`;

const toEvent = (text: string): EventText => ({
  text,
  // Nobody asks for the data of most events.
  get data() {
    return linesOf(text)
      .flatMap((line) => dataIn(line) ?? [])
      .join('\n');
  },
});

// A byte order mark is no part of the first line.
const linesOf = (text: string): readonly string[] => text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);

const dataIn = (line: string): string | undefined => {
  if (line === 'data') return '';
  return line.startsWith('data:') ? line.slice(line[5] === ' ' ? 6 : 5) : undefined;
};

interface Cutter {
  /** The events that end in this piece of the stream. */
  add(piece: string): string[];
  /** What has not ended. */
  rest(): string;
}

const createCutter = (): Cutter => {
  let begun: string[] = [];
  let isLineEmpty = true;
  let isAfterReturn = false;
  return {
    add: (piece) => {
      const events: string[] = [];
      const lineEnd = /[\r\n]/g;
      let start = 0;
      let next = 0;
      for (let found = lineEnd.exec(piece); found; found = lineEnd.exec(piece)) {
        const { index } = found;
        const isSecondHalf = isAfterReturn && index === next && found[0] === '\n';
        if (index > next) isLineEmpty = false;
        isAfterReturn = found[0] === '\r';
        next = index + 1;
        if (isSecondHalf) continue;
        // The line feed of an empty line belongs to its event where it is there already; it ends no further line anywhere.
        const isEnd = isLineEmpty;
        isLineEmpty = true;
        if (!isEnd) continue;
        const end = isAfterReturn && piece[next] === '\n' ? next + 1 : next;
        events.push(begun.join('') + piece.slice(start, end));
        begun = [];
        start = end;
      }
      if (next < piece.length) {
        isLineEmpty = false;
        isAfterReturn = false;
      }
      if (start < piece.length) begun.push(start === 0 ? piece : piece.slice(start));
      return events;
    },
    rest: () => begun.join(''),
  };
};
