import { styleText } from 'node:util';
import type { CommandContext } from '../command-context.ts';
import { toPlainJson, toStyledText, toTerminalText } from './printable.ts';
import { toTable } from './table.ts';
import { tellPerson } from './tell-person.ts';

/** Ways to mark a piece of text on a terminal that takes colour. */
export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow';

/** Prints what a command found: for programs as one JSON document, for people as text. */
export interface Printer {
  /** The result: `value` as JSON with `--json`, else the text that `toText` makes. */
  result(value: unknown, toText: () => string): void;
  /** A line for the person at the terminal, on standard error. */
  note(line: string): void;
  table(headings: readonly string[], rows: readonly (readonly string[])[]): string;
  /** The text, coloured where the terminal takes it and `NO_COLOR` does not forbid it. */
  style(style: Style, text: string): string;
  /** Text that others wrote: verbatim into a pipe, without terminal commands on a terminal. */
  foreign(text: string): string;
}

/** The printer of a command. */
export const createPrinter = ({ io, flags }: Pick<CommandContext, 'io' | 'flags'>): Printer => {
  const { stdout } = io;
  const isColoured = stdout.isTTY === true && !io.env['NO_COLOR'] && io.env['TERM'] !== 'dumb';
  const style: Printer['style'] = (format, text) =>
    isColoured ? styleText(format, text, { validateStream: false }) : text;
  return {
    result: (value, toText) => {
      const text = flags.json ? toPlainJson(value) : stdout.isTTY ? toStyledText(toText()) : toText();
      stdout.write(text.endsWith('\n') ? text : `${text}\n`);
    },
    note: (line) => tellPerson(io, line),
    table: (headings, rows) =>
      toTable(headings, rows, {
        columns: stdout.isTTY ? stdout.columns : undefined,
        heading: (line) => style('bold', line),
      }),
    style,
    foreign: (text) => (stdout.isTTY ? toTerminalText(text) : text),
  };
};
