/**
 * Calls in the text of an answer. A model that calls in words also quotes: a page, a document of a format, a message of the user. What could
 * be a quote is none of its calls, so a page cannot have a tool run by being shown. Everything is read in one pass over the text.
 */
import { maxJsonDepth } from '../../kernel/json-problem.ts';
import { isObject, parseJson } from '../../kernel/json.ts';
import { mostCallsOfAnswer } from './call-limits.ts';
import { nestsDeeper } from './nests-deeper.ts';
import { createIsQuoted } from './quoted-calls.ts';
import type { TextLine } from './text-lines.ts';
import { toTextLines } from './text-lines.ts';

/** A call that a model wrote as text. */
export interface TextCall {
  readonly name: string;
  /** The arguments as text; parsing them is for the call path, which says what is wrong. */
  readonly input: string;
}

/** What was found in a text. */
export interface TextCalls {
  /** What stands before the first call. */
  readonly before: string;
  readonly calls: readonly TextCall[];
}

interface Found {
  readonly at: number;
  /** The call as it was written. */
  readonly source: string;
  readonly call: TextCall;
}

const namedLine = /^tool_call_name:\s*`?([^\s`,]+)`?/i;
const argumentsMark = /tool_call_arguments:/i;
const blockStart = '<tool_call>';
const blockEnd = '</tool_call>';
const linesToArguments = 3;

/**
 * Finds calls that a model without native calling wrote into its answer: `tool_call_name: X` with `tool_call_arguments: {…}` on the line or
 * one of the next three; `<tool_call>{"name": …}</tool_call>`; a line that is exactly the name of a tool, with its arguments on the next. The
 * last two count only outside of code and quotations. No more are found than run of one answer. A call that stands in what the model was given, word for word, is a quotation.
 */
export const findTextCalls = (
  text: string,
  options: {
    readonly toolNames: Iterable<string>;
    /** What the model was given: messages of the user, results of tools. Asked for when there is a call. */
    readonly given: () => string;
  },
): TextCalls => {
  const names = new Map([...options.toolNames].map((name) => [name.toLowerCase(), name]));
  const lines = toTextLines(text);
  const blocks = blockCalls(text, lines, names);
  const written = blocks.length > 0 ? blocks : lineCalls(lines, names);
  const isQuoted = createIsQuoted(options.given);
  const calls = written.slice(0, mostCallsOfAnswer).filter(({ source }) => !isQuoted(source));
  const [first] = calls;
  return {
    before: first ? withoutOpenFence(text.slice(0, first.at).trim()) : text,
    calls: calls.map(({ call }) => call),
  };
};

const blockCalls = (text: string, lines: readonly TextLine[], names: ReadonlyMap<string, string>): readonly Found[] => {
  const found: Found[] = [];
  const isShown = createShownBefore(text, lines);
  for (let at = text.indexOf(blockStart); at !== -1;) {
    const close = text.indexOf(blockEnd, at);
    const end = close === -1 ? text.length : close;
    const call = isShown(at, end) ? undefined : blockCall(text.slice(at + blockStart.length, end), names);
    if (call) found.push({ at, source: text.slice(at, end), call });
    at = text.indexOf(blockStart, end);
  }
  return found;
};

/** Tells of one block after the other whether it stands inside of code or a quotation; marks inside of blocks are theirs. */
const createShownBefore = (text: string, lines: readonly TextLine[]): ((start: number, end: number) => boolean) => {
  let line = 0;
  let read = 0;
  let isCode = false;
  return (start, end) => {
    while ((lines[line + 1]?.start ?? Infinity) <= start) {
      line += 1;
      read = Math.max(read, lines[line]?.start ?? 0);
      isCode = false;
    }
    for (; read < start; read += 1) if (text[read] === '`') isCode = !isCode;
    read = end;
    return isCode || lines[line]?.isFenced === true || lines[line]?.isQuotation === true;
  };
};

const blockCall = (body: string, names: ReadonlyMap<string, string>): TextCall | undefined => {
  const parsed = parseJson(body);
  if (!parsed.ok || !isObject(parsed.value)) return undefined;
  const { name, arguments: args, parameters } = parsed.value;
  if (typeof name !== 'string') return undefined;
  const input = args ?? parameters ?? {};
  // What nests too deep to be written again is refused with the whole.
  const asText = (): string => (nestsDeeper(body, maxJsonDepth) ? body : JSON.stringify(input));
  return { name: names.get(name.toLowerCase()) ?? name, input: typeof input === 'string' ? input : asText() };
};

const lineCalls = (lines: readonly TextLine[], names: ReadonlyMap<string, string>): readonly Found[] => {
  const found: Found[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at];
    if (!line) continue;
    const named = namedIn(line.text);
    const bare = named || line.isFenced ? undefined : names.get(line.text.trim().toLowerCase());
    if (!named && bare === undefined) continue;
    const args = named ? namedArguments(lines, at, named.rest) : bareArguments(lines, at);
    const name = named ? (names.get(named.name.toLowerCase()) ?? named.name) : (bare ?? '');
    const source = lines.slice(at, args.lastLine + 1).map((each) => each.text);
    found.push({ at: line.start, source: source.join('\n'), call: { name, input: args.text } });
    at = args.lastLine;
  }
  return found;
};

/** The name of a call in the documented form, which may stand in code, and what stands behind it on the line. */
const namedIn = (line: string): { readonly name: string; readonly rest: string } | undefined => {
  let text = line.trimStart();
  for (let marks = 0; marks < 3 && text.startsWith('`'); marks += 1) text = text.slice(1);
  text = text.trimStart();
  const [match, name] = namedLine.exec(text) ?? [];
  return match === undefined || name === undefined ? undefined : { name, rest: text.slice(match.length) };
};

interface Arguments {
  readonly text: string;
  readonly lastLine: number;
}

const namedArguments = (lines: readonly TextLine[], at: number, rest: string): Arguments => {
  const inline = behindMark(rest);
  if (inline !== undefined) return balanced(lines, at, inline);
  for (let line = at + 1; line <= at + linesToArguments && line < lines.length; line += 1) {
    const { text = '' } = lines[line] ?? {};
    if (namedIn(text)) break;
    const behind = behindMark(text);
    if (behind !== undefined) return balanced(lines, line, behind);
  }
  return { text: '', lastLine: at };
};

const bareArguments = (lines: readonly TextLine[], at: number): Arguments => {
  const { text = '' } = lines[at + 1] ?? {};
  return text.trimStart().startsWith('{') ? balanced(lines, at + 1, text) : { text: '', lastLine: at };
};

const behindMark = (text: string): string | undefined => {
  const match = argumentsMark.exec(text);
  return match ? text.slice(match.index + match[0].length) : undefined;
};

/** The JSON that begins with `text` on a line and may go on over the next ones, until its braces balance or the text ends. */
const balanced = (lines: readonly TextLine[], at: number, text: string): Arguments => {
  const pieces = [text];
  let line = at;
  // An opening brace may stand on the next line.
  if (text.trim() === '' && line + 1 < lines.length) pieces.push(lines[(line += 1)]?.text ?? '');
  const depth = createDepth();
  for (const piece of pieces) depth.read(piece);
  while (depth.open > 0 && line + 1 < lines.length) {
    const { text: next = '' } = lines[line + 1] ?? {};
    if (namedIn(next)) break;
    line += 1;
    pieces.push(next);
    depth.read(next);
  }
  return { text: withoutMarks(pieces.join('\n').trim()), lastLine: line };
};

/** Counts the braces that are open, outside of strings, as more and more of a JSON text is read. */
const createDepth = (): { readonly open: number; readonly read: (line: string) => void } => {
  let open = 0;
  let inString = false;
  return {
    get open() {
      return open;
    },
    read: (line) => {
      for (let at = 0; at < line.length; at += 1) {
        const mark = line[at];
        if (inString) {
          if (mark === '\\') at += 1;
          else if (mark === '"') inString = false;
        } else if (mark === '"') inString = true;
        else if (mark === '{') open += 1;
        else if (mark === '}') open -= 1;
      }
    },
  };
};

/** The text without the marks that end a piece of code. */
const withoutMarks = (text: string): string => {
  let end = text.length;
  while (text[end - 1] === '`') end -= 1;
  return text.slice(0, end).trim();
};

/** The text without the line that begins a piece of code, when it ends with one. */
const withoutOpenFence = (text: string): string => {
  const at = text.lastIndexOf('```');
  return at !== -1 && /^\w*$/.test(text.slice(at + 3)) ? withoutMarks(text.slice(0, at)) : text;
};
