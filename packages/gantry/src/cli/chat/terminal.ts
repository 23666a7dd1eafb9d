import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { CliIo } from '../cli-io.ts';

/** A person at a terminal who writes lines. */
export interface ChatTerminal extends Disposable {
  /**
   * The next line, also one that was written before it was asked for; undefined when the person leaves (end of input, or an interrupt while
   * nothing runs). What was pasted as a piece is one line, with the line breaks that it has.
   */
  ask(prompt: string): Promise<string | undefined>;
  /** A line whose writing began when the prompt could be read; what was written before waits for the next {@link ChatTerminal.ask}. */
  askAnew(prompt: string): Promise<string | undefined>;
  /** Writes a piece of text above what is being typed. */
  write(text: string): void;
  /** Told of an interrupt; says whether there was something to interrupt. Without that an interrupt leaves. */
  onInterrupt(handler: () => boolean): void;
  /** Told when the person leaves. */
  onLeave(handler: () => void): void;
  /** Asks for nothing more, as if the person had left. */
  leave(): void;
}

/** True when a person can be asked for one line after the other. */
export const isInteractive = ({ stdin, stdout }: Pick<CliIo, 'stdin' | 'stdout'>): boolean =>
  stdin instanceof Readable && 'isTTY' in stdin && stdin.isTTY === true && stdout.isTTY === true;

/** Terminals then say where a paste begins and ends. */
const marksPastes = { on: '\u001B[?2004h', off: '\u001B[?2004l' } as const;

/** Opens the terminal that standard input and output are. `history` holds earlier lines, the newest first. */
export const openTerminal = (
  { stdin, stdout }: Pick<CliIo, 'stdin' | 'stdout'>,
  { history = [] }: { readonly history?: readonly string[] | undefined } = {},
): ChatTerminal => {
  if (!(stdin instanceof Readable)) throw new TypeError('standard input is no stream');
  const lines = createInterface({
    input: stdin,
    output: stdout as NodeJS.WritableStream & typeof stdout,
    terminal: true,
    history: [...history],
    historySize: 500,
    removeHistoryDuplicates: true,
  });
  /** Lines that were written while something else went on. */
  const typed: string[] = [];
  /** What was written and not sent when a question came that it does not answer. */
  let setAside = '';
  let pasted: string[] = [];
  let isPasting = false;
  let waiting: ((line: string | undefined) => void) | undefined;
  let interrupt: () => boolean = () => false;
  let left: () => void = () => {};
  let hasLeft = false;
  let unfinished = '';

  const leave = (): void => {
    if (hasLeft) return;
    hasLeft = true;
    left();
    waiting?.(undefined);
    waiting = undefined;
  };
  const clear = (): void => {
    pasted = [];
    lines.write(null, { ctrl: true, name: 'e' });
    lines.write(null, { ctrl: true, name: 'u' });
  };
  const onKey = (_text: unknown, key: { readonly name?: string | undefined } | undefined): void => {
    if (key?.name === 'paste-start') isPasting = true;
    else if (key?.name === 'paste-end') isPasting = false;
  };
  stdin.on('keypress', onKey);
  lines.on('line', (line) => {
    if (isPasting) {
      pasted.push(line);
      return;
    }
    const whole = [...pasted, line].join('\n');
    pasted = [];
    if (!waiting) {
      // Typed while something else went on; it is the next answer.
      typed.push(whole);
      return;
    }
    const resolve = waiting;
    waiting = undefined;
    resolve(whole);
  });
  lines.on('close', leave);
  lines.on('SIGINT', () => {
    if (interrupt()) return;
    if (lines.line !== '' || pasted.length > 0) {
      // Clears what was typed, as shells do.
      clear();
      return;
    }
    stdout.write('\n');
    leave();
  });
  stdout.write(marksPastes.on);

  const wait = (prompt: string): Promise<string | undefined> =>
    new Promise((resolve) => {
      waiting = resolve;
      lines.setPrompt(prompt);
      lines.prompt();
    });

  return {
    ask: (prompt) => {
      if (hasLeft) return Promise.resolve(undefined);
      const next = typed.shift();
      if (next !== undefined) return Promise.resolve(next);
      const line = wait(prompt);
      lines.write(setAside);
      setAside = '';
      return line;
    },
    askAnew: async (prompt) => {
      // What was written so far is still to be read.
      await new Promise((resolve) => setImmediate(resolve));
      if (hasLeft) return undefined;
      const begun = [...pasted, lines.line].join(' ').trim();
      if (begun !== '') {
        setAside = [setAside, begun].filter((text) => text !== '').join(' ');
        clear();
      }
      return wait(prompt);
    },
    write: (text) => {
      if (!waiting) {
        stdout.write(unfinished + text);
        unfinished = '';
        return;
      }
      // Above what is being typed there is room for whole lines only.
      unfinished += text;
      const end = unfinished.lastIndexOf('\n') + 1;
      if (end === 0) return;
      stdout.write(`\r\u001B[K${unfinished.slice(0, end)}`);
      unfinished = unfinished.slice(end);
      lines.prompt(true);
    },
    onInterrupt: (handler) => {
      interrupt = handler;
    },
    onLeave: (handler) => {
      left = handler;
    },
    leave,
    [Symbol.dispose]: () => {
      stdin.off('keypress', onKey);
      stdout.write(marksPastes.off);
      lines.close();
    },
  };
};
