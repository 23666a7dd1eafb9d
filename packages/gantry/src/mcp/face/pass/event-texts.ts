/** One event of a stream: its text with the blank line behind it, and the data in it. */
export interface EventText {
  readonly text: string;
  readonly data: string;
}

/** Cuts a server-sent-event stream into its events, exactly as they were written (WHATWG HTML, "Server-sent events"). */
export async function* eventTexts(body: AsyncIterable<Uint8Array>): AsyncGenerator<EventText> {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  let rest = '';
  for await (const chunk of body) {
    rest += decoder.decode(chunk, { stream: true });
    for (let end = boundaryIn(rest); end > 0; end = boundaryIn(rest)) {
      yield toEvent(rest.slice(0, end));
      rest = rest.slice(end);
    }
  }
  rest += decoder.decode();
  if (rest !== '') yield toEvent(rest);
}

const boundary = /\r\n\r\n|\n\n|\r\r/;

const boundaryIn = (text: string): number => {
  const found = boundary.exec(text);
  return found ? found.index + found[0].length : -1;
};

const toEvent = (text: string): EventText => {
  const lines = text.split(/\r\n|\n|\r/);
  const data = lines.filter((line) => line.startsWith('data:')).map((line) => line.slice(5).replace(/^ /, ''));
  return { text, data: data.join('\n') };
};

/** An event that carries one message. */
export const messageEvent = (data: string): string => `event: message\ndata: ${data}\n\n`;
