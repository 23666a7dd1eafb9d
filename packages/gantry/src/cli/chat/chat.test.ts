import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { SessionEvent } from '../../agent/sessions/session-events.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { OpenQuestion } from '../../operations/questions.ts';
import type { RunOptions } from '../../operations/operation.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import type { Gateway } from '../gateway.ts';
import { askForm } from './ask-form.ts';
import { createChatView } from './chat-view.ts';
import { runChat } from './run-chat.ts';
import type { ChatTerminal } from './terminal.ts';
import { openTerminal } from './terminal.ts';

const plain = { style: (_style: string, text: string) => text, foreign: (text: string) => text };

describe('a turn at a terminal', () => {
  const show = (...events: SessionEvent[]): string => {
    let screen = '';
    const clock = fakeClock();
    const view = createChatView({
      words: (text) => (screen += text),
      lines: (line) => (screen += `${line}\n`),
      isShared: true,
      printer: plain,
      clock,
    });
    for (const event of events) view.show(event);
    return screen;
  };
  const start: SessionEvent = { type: 'tool-start', id: 'c', name: 'search', arguments: { q: 'x' } };

  it('shows words as they come, and calls on lines of their own', () => {
    expect(
      show(
        { type: 'text', text: 'Let me ' },
        { type: 'text', text: 'look.' },
        start,
        { type: 'tool-end', id: 'c', name: 'search', status: 'done', durationMs: 1234, result: 'ok' },
        { type: 'text', text: 'Found.' },
        { type: 'turn-failed', code: 'cancelled', message: 'x' },
      ),
    ).toBe('Let me look.\n  → search {"q":"x"}\n  ✓ search 1.2 s\nFound.\n');
  });

  it('says once that a long turn still works, and how to stop it', () => {
    expect(show({ type: 'text', text: 'Hm' }, { type: 'still-working', iterations: 20 }, start)).toBe(
      'Hm\n  … still working, after 20 rounds of calls; Ctrl-C stops the turn\n  → search {"q":"x"}\n',
    );
  });

  it('shows progress now and then, and why a call failed', () => {
    const progress = (at: number): SessionEvent => ({
      type: 'tool-progress',
      id: 'c',
      name: 'search',
      progress: { progress: at, total: 4, message: 'reading' },
    });
    expect(
      show(start, progress(1), progress(2), {
        type: 'tool-end',
        id: 'c',
        name: 'search',
        status: 'failed',
        durationMs: 20_000,
        result: 'Error: no\nnetwork',
      }),
    ).toBe('  → search {"q":"x"}\n  … search 25 % reading\n  ✗ search 20 s: Error: no network\n');
  });

  it('says what a parked call waits for', () => {
    const parked = (kind: 'question' | 'task'): SessionEvent => ({
      type: 'tool-end',
      id: 'c',
      name: 'book',
      status: 'parked',
      durationMs: 5,
      result: '',
      handle: { kind, id: 'x', expiresAt: '' },
    });
    expect(show(parked('question'))).toContain('its server asks something');
    expect(show(parked('task'))).toContain('in the background');
  });
});

const question: OpenQuestion = {
  id: 'q_1',
  server: 'hall',
  tool: 'book',
  arguments: {},
  message: 'How many seats?',
  session: 'session/s1',
  askedAt: '',
  expiresAt: null,
  fields: [
    { name: 'seats', type: 'integer', required: true, minimum: 1, maximum: 9 },
    { name: 'row', type: 'choice', required: false, options: [{ value: 'a', title: 'Front' }, { value: 'b' }] },
    { name: 'sure', type: 'boolean', required: false },
  ],
};

describe('the form of a question', () => {
  const fill = async (...lines: (string | undefined)[]): Promise<unknown> => {
    const rest = [...lines];
    return askForm(question, { ask: async () => rest.shift(), say: () => {} });
  };

  it('gives values by field name; choices by number, title or value', async () => {
    expect(await fill('4', '1', 'yes')).toEqual({ answers: { seats: 4, row: 'a', sure: true } });
    expect(await fill('4', 'front', 'n')).toEqual({ answers: { seats: 4, row: 'a', sure: false } });
    expect(await fill('4', 'b', '')).toEqual({ answers: { seats: 4, row: 'b' } });
  });

  it('asks again for what is needed or makes no sense, and leaves out what is optional', async () => {
    expect(await fill('', 'four', '4', '', '')).toEqual({ answers: { seats: 4 } });
  });

  it('shows nothing that steers the terminal, whatever the server wrote', async () => {
    const evil = '\u001B[2J\u202E\u2028x';
    const shown: string[] = [];
    await askForm(
      {
        ...question,
        server: evil,
        tool: evil,
        message: evil,
        fields: [
          { name: evil, type: 'string', required: false, default: evil, title: evil, description: evil },
          { name: 'c', type: 'choices', required: false, default: [evil], options: [{ value: evil }] },
        ],
      },
      {
        ask: async (prompt) => {
          shown.push(prompt);
          return '';
        },
        say: (line) => shown.push(line),
      },
    );
    expect(shown.join('')).toContain('default');
    expect(shown.join('')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}]/u);
  });

  it('can be declined, or left for later', async () => {
    expect(await fill('/decline')).toBe('decline');
    expect(await fill('4', '/later')).toBe('later');
    expect(await fill(undefined)).toBe('later');
  });
});

describe('a chat', () => {
  const talk = async (
    lines: readonly string[],
    handlers: Readonly<Record<string, (input: Record<string, unknown>, options: RunOptions) => unknown>>,
  ): Promise<{ screen: string; ran: string[] }> => {
    let screen = '';
    const ran: string[] = [];
    const rest = [...lines];
    const ask = async (prompt: string): Promise<string | undefined> => {
      screen += prompt;
      return rest.shift();
    };
    const terminal: ChatTerminal = {
      ask,
      askAnew: ask,
      write: (text) => (screen += text),
      onInterrupt: () => {},
      onLeave: () => {},
      leave: () => {},
      [Symbol.dispose]: () => {},
    };
    const gateway: Pick<Gateway, 'run'> = {
      run: async (operation, input, options = {}) => {
        ran.push(operation.name);
        if (operation.name === 'sessions.events' && !handlers['sessions.events'])
          await new Promise((resolve) => options.signal?.addEventListener('abort', resolve));
        const handler = handlers[operation.name] ?? (() => ({ questions: [], turns: [] }));
        return (await handler(input as Record<string, unknown>, options)) as never;
      },
    };
    await runChat({
      gateway,
      terminal,
      printer: plain,
      clock: fakeClock(),
      sessionId: 's1',
      workspace: undefined,
      newSessionId: () => 's2',
      interrupted: new AbortController().signal,
    });
    return { screen, ran };
  };
  const saying =
    (text: string) =>
    (_input: unknown, { onEvent }: RunOptions) => {
      onEvent?.({ type: 'text', text } as never);
      return {};
    };

  it('answers until the person leaves', async () => {
    const { screen } = await talk(['hi', ''], { 'sessions.send': saying('Hello.') });
    expect(screen).toBe('> Hello.\n> > ');
  });

  it('tells a failure and goes on', async () => {
    const { screen } = await talk(['hi', '/exit'], {
      'sessions.send': () => Promise.reject(new GantryError('model_failed', 'the model is down')),
    });
    expect(screen).toContain('the model is down\n> ');
  });

  it('goes on when its gateway goes for a moment, and says that a message did not reach it', async () => {
    let isAway = true;
    const away = new GantryError('execution_failed', 'No gateway answers', { retry: 'later' });
    const { screen, ran } = await talk(['hi', '/history', 'hi', '/exit'], {
      'sessions.show': () => Promise.reject(away),
      'sessions.send': (input, options) => {
        if (!isAway) return saying('Hello.')(input, options);
        isAway = false;
        return Promise.reject(away);
      },
    });
    expect(screen).toBe(
      '> No gateway answers\nYour message was not sent; the key arrow up brings it back.\n> No gateway answers\n> Hello.\n> ',
    );
    expect(ran.filter((name) => name === 'sessions.send')).toHaveLength(2);
  });

  it('listens again with the next message when it was cut off, and writes into no line', async () => {
    let cut: (error: Error) => void = () => {};
    let heard = 0;
    const { screen } = await talk(['hi', 'more', '/exit'], {
      'sessions.send': async (_input, { onEvent }) => {
        onEvent?.({ type: 'text', text: 'Half ' } as never);
        cut(new Error('gone'));
        await new Promise((resolve) => setImmediate(resolve));
        onEvent?.({ type: 'text', text: 'and whole.' } as never);
        return {};
      },
      'sessions.events': (_input, { signal }) =>
        new Promise((resolve, reject) => {
          heard += 1;
          cut = reject;
          signal?.addEventListener('abort', resolve);
        }),
    });
    expect(screen).toContain(
      '> Half \nWhat comes late in this conversation is not shown until your next message: gone\nand whole.\n',
    );
    expect(heard).toBe(2);
  });

  it('shows an open question of the session as a form, and asks again when the answer does not fit', async () => {
    const answers: unknown[] = [];
    let isOpen = true;
    const { screen } = await talk(['book it', '99', '', '', '4', '', '', '/exit'], {
      'sessions.send': saying('The hall asks something.'),
      'questions.list': () => ({
        questions: isOpen ? [question, { ...question, id: 'q_2', session: 'session/x' }] : [],
      }),
      'questions.answer': ({ answers: given }) => {
        answers.push(given);
        if ((given as { seats: number }).seats > 9) throw new GantryError('invalid_arguments', 'at most 9 seats');
        isOpen = false;
        return {};
      },
    });
    expect(answers).toEqual([{ seats: 99 }, { seats: 4 }]);
    expect(screen).toContain('hall asks (in book): How many seats?');
    expect(screen).toContain('at most 9 seats');
  });

  it('has commands, and says which there are', async () => {
    const { screen, ran } = await talk(['/nope', '/new', '/help', '/exit'], {});
    expect(screen).toContain('There is no /nope');
    expect(screen).toContain('Session s2.');
    expect(screen).toContain('Ctrl-C');
    expect(ran.filter((name) => name === 'sessions.events')).toHaveLength(2);
  });
});

it('never takes what was written before a question was shown for its answer', async () => {
  const stdin = new PassThrough();
  const ran: string[] = [];
  const confirm: OpenQuestion = { ...question, message: 'Transfer 10,000?', fields: [] };
  const asked = Promise.withResolvers<void>();
  const stdout = new PassThrough().on('data', (piece: Buffer) => {
    if (piece.toString().includes('Confirm?')) asked.resolve();
  });
  const gateway: Pick<Gateway, 'run'> = {
    run: async ({ name }, input, { signal } = {}) => {
      if (name === 'sessions.events') await new Promise((resolve) => signal?.addEventListener('abort', resolve));
      if (name === 'questions.list') return { questions: ran.length === 1 ? [confirm] : [] } as never;
      if (name === 'sessions.send') {
        const { message } = input as { message: string };
        stdin.write(message === 'pay' ? 'yes\r' : '\u0004');
        ran.push(message);
      } else ran.push(name);
      return {} as never;
    },
  };
  stdin.write('pay\r');
  const chat = runChat({
    gateway,
    terminal: openTerminal({ stdin, stdout }),
    printer: plain,
    clock: fakeClock(),
    sessionId: 's1',
    workspace: undefined,
    newSessionId: () => 's2',
    interrupted: new AbortController().signal,
  });
  await asked.promise;
  stdin.write('no\r');
  await chat;
  expect(ran.filter((name) => name !== 'sessions.events')).toEqual(['pay', 'questions.decline', 'yes']);
});

describe('a chat that comes to its end', () => {
  /** A chat at a real terminal whose turns last until they are stopped. */
  const open = () => {
    const stdin = new PassThrough();
    const stdout = new PassThrough();
    const interruption = new AbortController();
    const started = Promise.withResolvers<void>();
    let stopped: unknown;
    const hang = (signal: AbortSignal | undefined) =>
      new Promise((_resolve, reject) => signal?.addEventListener('abort', () => reject(signal.reason as Error)));
    const gateway: Pick<Gateway, 'run'> = {
      run: async ({ name }, _input, { signal } = {}) => {
        if (name === 'questions.list') return { questions: [] } as never;
        if (name === 'sessions.send') {
          signal?.addEventListener('abort', () => (stopped = signal.reason));
          started.resolve();
        }
        return (await hang(signal)) as never;
      },
    };
    const terminal = openTerminal({ stdin, stdout });
    const chat = runChat({
      gateway,
      terminal,
      printer: plain,
      clock: fakeClock(),
      sessionId: 's1',
      workspace: undefined,
      newSessionId: () => 's2',
      interrupted: interruption.signal,
    });
    return { stdin, interruption, chat, started: started.promise, stopped: () => stopped };
  };

  it('does so at a signal from outside, while nothing is said', async () => {
    const { interruption, chat } = open();
    interruption.abort();
    await chat;
  });

  it.each(['a signal from outside', 'the end of input'])('stops its turn and leaves at %s', async (how) => {
    const { stdin, interruption, chat, started, stopped } = open();
    stdin.write('hi\r');
    await started;
    if (how === 'the end of input') stdin.write('\u0004');
    else interruption.abort();
    await chat;
    expect(stopped()).toMatchObject({ code: 'cancelled' });
  });
});
