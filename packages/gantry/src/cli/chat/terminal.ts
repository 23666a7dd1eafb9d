import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { CliIo } from '../cli-io.ts';

/** A person at a terminal who writes lines. */
export interface ChatTerminal extends Disposable {
  /** The next line; undefined when the person leaves (end of input, or an interrupt while nothing runs). */
  ask(prompt: string): Promise<string | undefined>;
  /** Writes a piece of text above what is being typed. */
  write(text: string): void;
  /** Told of an interrupt; says whether there was something to interrupt. Without that an interrupt leaves. */
  onInterrupt(handler: () => boolean): void;
}

/** True when a person can be asked for one line after the other. */
export const isInteractive = ({ stdin, stdout }: Pick<CliIo, 'stdin' | 'stdout'>): boolean =>
  stdin instanceof Readable && 'isTTY' in stdin && stdin.isTTY === true && stdout.isTTY === true;

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
  const typed: string[] = [];
  let waiting: ((line: string | undefined) => void) | undefined;
  let interrupt: () => boolean = () => false;
  let hasLeft = false;
  let unfinished = '';

  const leave = (): void => {
    hasLeft = true;
    waiting?.(undefined);
    waiting = undefined;
  };
  lines.on('line', (line) => {
    if (!waiting) {
      // Typed while something else went on; it is the next answer.
      typed.push(line);
      return;
    }
    const resolve = waiting;
    waiting = undefined;
    resolve(line);
  });
  lines.on('close', leave);
  lines.on('SIGINT', () => {
    if (interrupt()) return;
    if (lines.line !== '') {
      // Clears what was typed, as shells do.
      lines.write(null, { ctrl: true, name: 'u' });
      return;
    }
    stdout.write('\n');
    leave();
  });

  return {
    ask: (prompt) => {
      if (hasLeft) return Promise.resolve(undefined);
      const next = typed.shift();
      if (next !== undefined) return Promise.resolve(next);
      return new Promise((resolve) => {
        waiting = resolve;
        lines.setPrompt(prompt);
        lines.prompt();
      });
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
    [Symbol.dispose]: () => lines.close(),
  };
};
