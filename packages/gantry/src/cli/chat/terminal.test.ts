import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ChatTerminal } from './terminal.ts';
import { isInteractive, openTerminal } from './terminal.ts';

let stdin: PassThrough;
let stdout: PassThrough;
let terminal: ChatTerminal;
/** What came on the screen since it was looked at last. */
const screen = (): string => {
  const pieces: Buffer[] = [];
  for (let piece = stdout.read() as Buffer | null; piece !== null; piece = stdout.read() as Buffer | null)
    pieces.push(piece);
  return Buffer.concat(pieces).toString();
};

beforeEach(() => {
  stdin = new PassThrough();
  stdout = new PassThrough();
  terminal = openTerminal({ stdin, stdout });
});
afterEach(() => terminal[Symbol.dispose]());

describe('the terminal of a chat', () => {
  it('is one only where both ends are', () => {
    expect(isInteractive({ stdin, stdout })).toBe(false);
    expect(isInteractive({ stdin: Object.assign(new PassThrough(), { isTTY: true }), stdout })).toBe(false);
    const both = { stdin: Object.assign(new PassThrough(), { isTTY: true }), stdout: { write: () => {}, isTTY: true } };
    expect(isInteractive(both)).toBe(true);
  });

  it('gives one line after the other, also those that were typed before they were asked for', async () => {
    const first = terminal.ask('> ');
    stdin.write('one\r');
    expect(await first).toBe('one');
    stdin.write('two\r');
    // The line is read when the stream is; asking takes it either way.
    expect(await terminal.ask('> ')).toBe('two');
  });

  it('writes whole lines above what is being typed, and loses no piece of one', async () => {
    const asked = terminal.ask('> ');
    screen();
    terminal.write('Good ');
    terminal.write('news');
    expect(screen()).toBe('');
    terminal.write('.\nMore');
    const shown = screen();
    expect(shown.startsWith('\r\u001B[KGood news.\n')).toBe(true);
    expect(shown).toContain('> ');
    expect(shown).not.toContain('More');
    stdin.write('x\r');
    await asked;
    screen();
    terminal.write(' to come\n');
    expect(screen()).toBe('More to come\n');
  });

  it('ends with the input', async () => {
    const asked = terminal.ask('> ');
    stdin.write('\u0004');
    expect(await asked).toBeUndefined();
    expect(await terminal.ask('> ')).toBeUndefined();
  });

  it('interrupts what runs; without that it clears the line, and an empty line leaves', async () => {
    let runs = true;
    terminal.onInterrupt(() => runs);
    const asked = terminal.ask('> ');
    stdin.write('\u0003');
    stdin.write('kept');
    await new Promise((resolve) => setImmediate(resolve));
    runs = false;
    stdin.write('\u0003');
    stdin.write('new\r');
    expect(await asked).toBe('new');
    const again = terminal.ask('> ');
    stdin.write('\u0003');
    expect(await again).toBeUndefined();
  });

  it('keeps what was written before a question was shown for the next line, sent or not', async () => {
    stdin.write('yes\rsecond\rhalf');
    const answer = terminal.askAnew('Confirm? ');
    await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    stdin.write('no\r');
    expect(await answer).toBe('no');
    expect(await terminal.ask('> ')).toBe('yes');
    expect(await terminal.ask('> ')).toBe('second');
    const last = terminal.ask('> ');
    stdin.write(' and whole\r');
    expect(await last).toBe('half and whole');
  });

  it('takes what was pasted as one line with its breaks, also while nothing is asked for', async () => {
    const pasted = '\u001B[200~one\ntwo\r\nthree\u001B[201~';
    const asked = terminal.ask('> ');
    expect(screen()).toContain('\u001B[?2004h');
    stdin.write(`a ${pasted} b\r`);
    expect(await asked).toBe('a one\ntwo\nthree b');
    stdin.write(`${pasted}\r`);
    expect(await terminal.ask('> ')).toBe('one\ntwo\nthree');
    const cleared = terminal.ask('> ');
    stdin.write(pasted);
    stdin.write('\u0003');
    stdin.write('new\r');
    expect(await cleared).toBe('new');
  });

  it('tells once that the person leaves, also while nothing is asked for', async () => {
    let times = 0;
    terminal.onLeave(() => (times += 1));
    stdin.write('\u0004');
    await new Promise((resolve) => setImmediate(resolve));
    terminal.leave();
    expect(times).toBe(1);
    expect(await terminal.askAnew('> ')).toBeUndefined();
  });
});
