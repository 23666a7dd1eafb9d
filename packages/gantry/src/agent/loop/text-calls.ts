import { isObject, parseJson } from '../../kernel/json.ts';

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

const namedLine = /^\s*`{0,3}\s*tool_call_name:\s*`?([^\s`,]+)`?\s*(.*)$/i;
const argumentsMark = /tool_call_arguments:\s*(.*)$/i;
const block = /<tool_call>\s*([\s\S]*?)\s*(?:<\/tool_call>|$)/g;
const linesToArguments = 3;

/**
 * Finds calls that a model without native calling wrote into its answer: `tool_call_name: X` with `tool_call_arguments: {…}` on the line or
 * one of the next three; `<tool_call>{"name": …}</tool_call>`; and, where `bareNames` allows it, a line that is exactly the name of a tool,
 * with its arguments on the next.
 */
export const findTextCalls = (
  text: string,
  options: { readonly toolNames: Iterable<string>; readonly bareNames: boolean },
): TextCalls => {
  const names = new Map([...options.toolNames].map((name) => [name.toLowerCase(), name]));
  const calls: { at: number; call: TextCall }[] = [];
  for (const match of text.matchAll(block)) {
    const call = blockCall(match[1] ?? '', names);
    if (call) calls.push({ at: match.index, call });
  }
  if (calls.length === 0) calls.push(...lineCalls(text, names, options.bareNames));
  const [first] = calls;
  return {
    before: first
      ? text
          .slice(0, first.at)
          .replace(/`{3}\w*\s*$/, '')
          .trim()
      : text,
    calls: calls.map(({ call }) => call),
  };
};

const blockCall = (body: string, names: ReadonlyMap<string, string>): TextCall | undefined => {
  const parsed = parseJson(body);
  if (!parsed.ok || !isObject(parsed.value) || typeof parsed.value['name'] !== 'string') return undefined;
  const {
    name,
    arguments: args,
    parameters,
  } = parsed.value as { name: string; arguments?: unknown; parameters?: unknown };
  const input = args ?? parameters ?? {};
  return {
    name: names.get(name.toLowerCase()) ?? name,
    input: typeof input === 'string' ? input : JSON.stringify(input),
  };
};

const lineCalls = (
  text: string,
  names: ReadonlyMap<string, string>,
  bareNames: boolean,
): { at: number; call: TextCall }[] => {
  const lines = text.split('\n');
  const starts: number[] = [];
  let offset = 0;
  for (const line of lines) {
    starts.push(offset);
    offset += line.length + 1;
  }
  const found: { at: number; call: TextCall }[] = [];
  for (let at = 0; at < lines.length; at += 1) {
    const line = lines[at] ?? '';
    const named = namedLine.exec(line);
    if (named) {
      const name = named[1] ?? '';
      const args = namedArguments(lines, at, named[2] ?? '');
      found.push({ at: starts[at] ?? 0, call: { name: names.get(name.toLowerCase()) ?? name, input: args.text } });
      at = args.lastLine;
      continue;
    }
    const bare = bareNames ? names.get(line.trim().replaceAll('`', '').toLowerCase()) : undefined;
    if (bare === undefined) continue;
    const next = lines[at + 1] ?? '';
    const args = next.trimStart().startsWith('{') ? balanced(lines, at + 1, next) : undefined;
    found.push({ at: starts[at] ?? 0, call: { name: bare, input: args?.text ?? '' } });
    if (args) at = args.lastLine;
  }
  return found;
};

const namedArguments = (lines: readonly string[], at: number, rest: string): { text: string; lastLine: number } => {
  const inline = argumentsMark.exec(rest);
  if (inline) return balanced(lines, at, inline[1] ?? '');
  for (let line = at + 1; line <= at + linesToArguments && line < lines.length; line += 1) {
    if (namedLine.test(lines[line] ?? '')) break;
    const match = argumentsMark.exec(lines[line] ?? '');
    if (match) return balanced(lines, line, match[1] ?? '');
  }
  return { text: '', lastLine: at };
};

/** The JSON that begins with `text` on a line and may go on over the next ones, until its braces balance or the text ends. */
const balanced = (lines: readonly string[], at: number, text: string): { text: string; lastLine: number } => {
  let whole = text;
  let line = at;
  // An opening brace may stand on the next line.
  if (whole.trim() === '' && line + 1 < lines.length) whole = lines[(line += 1)] ?? '';
  while (depthOf(whole) > 0 && line + 1 < lines.length) {
    const next = lines[line + 1] ?? '';
    if (namedLine.test(next)) break;
    line += 1;
    whole += `\n${next}`;
  }
  return { text: whole.replace(/`+\s*$/, '').trim(), lastLine: line };
};

/** How many braces are open at the end, outside of strings. */
const depthOf = (text: string): number => {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < text.length; at += 1) {
    const mark = text[at];
    if (inString) {
      if (mark === '\\') at += 1;
      else if (mark === '"') inString = false;
    } else if (mark === '"') inString = true;
    else if (mark === '{') depth += 1;
    else if (mark === '}') depth -= 1;
  }
  return depth;
};
