/** Tells whether a piece of an answer is a quotation. */
export type IsQuoted = (piece: string) => boolean;

/**
 * Makes it over what the model was given: a piece is a quotation when it stands there, whatever breaks its lines, marks it as code or
 * quotation, or escapes it there. A piece of one word has to stand there on a line of its own: words are used by everybody.
 */
export const createIsQuoted = (given: () => string): IsQuoted => {
  let text: string | undefined;
  let lines: ReadonlySet<string> | undefined;
  return (piece) => {
    const wanted = bareText(piece);
    if (wanted === '') return false;
    if (/\s|[{}:<]/.test(piece.trim())) return (text ??= bareText(given())).includes(wanted);
    lines ??= new Set(given().split(lineBreak).map(bareText));
    return lines.has(wanted);
  };
};

/** Also as it stands in a text that was written as JSON. */
const lineBreak = /\n|\\n/;

const bareText = (text: string): string => text.replaceAll(/\\+[nrt]?|[\s`>]/g, '').toLowerCase();
