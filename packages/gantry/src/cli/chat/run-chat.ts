import type { SessionEvent } from '../../agent/sessions/session-events.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { OperationEvent } from '../../operations/operation.ts';
import { questionsAnswer, questionsDecline, questionsList } from '../../operations/questions.ts';
import { sessionsEvents, sessionsForget, sessionsSend, sessionsShow } from '../../operations/sessions.ts';
import type { Gateway } from '../gateway.ts';
import { toCell } from '../output/printable.ts';
import type { Printer } from '../output/printer.ts';
import { askForm } from './ask-form.ts';
import type { ChatView } from './chat-view.ts';
import { createChatView } from './chat-view.ts';
import { isUnreached } from './lasting-gateway.ts';
import type { ChatTerminal } from './terminal.ts';

/** What a chat at a terminal works with. */
export interface ChatOptions {
  readonly gateway: Pick<Gateway, 'run'>;
  readonly terminal: ChatTerminal;
  readonly printer: Pick<Printer, 'style' | 'foreign'>;
  readonly clock: Clock;
  readonly sessionId: string;
  readonly workspace: string | undefined;
  /** Makes the id of another session, for `/new`. */
  readonly newSessionId: () => string;
  /** Ends the chat, and the turn that runs. */
  readonly interrupted: AbortSignal;
}

const help = [
  '/new       begins another conversation',
  '/history   shows this conversation',
  '/forget    forgets this conversation and leaves',
  '/exit      leaves; so does Ctrl-D',
  'Ctrl-C     stops the turn that runs',
].join('\n');

/** Talks with a person until he leaves or the command is interrupted. What fails is told and the chat goes on. */
export const runChat = async (options: ChatOptions): Promise<void> => {
  const { gateway, terminal, printer, clock, workspace, newSessionId, interrupted } = options;
  const { style, foreign } = printer;
  /** What is in the middle of a line is ended before another begins. */
  const views = new Set<ChatView>();
  const write = (line: string): void => terminal.write(`${line}\n`);
  const say = (line: string): void => {
    for (const view of views) view.endLine();
    write(line);
  };
  const sayError = (error: unknown): void => say(style('red', foreign(messageOf(error))));
  let session = openSession(options.sessionId);
  let turn: AbortController | undefined;
  const stop = (): boolean => {
    turn?.abort(new GantryError('cancelled', 'Stopped.'));
    return turn !== undefined;
  };
  terminal.onInterrupt(stop);
  terminal.onLeave(stop);
  const end = (): void => terminal.leave();
  if (interrupted.aborted) end();
  else interrupted.addEventListener('abort', end, { once: true });

  /** Hears what happens in the session beside the turns that are asked for here; again, when the gateway had gone. */
  function openSession(id: string): ChatSession {
    const listening = new AbortController();
    const view = viewOf();
    let isForeign = false;
    let isTold = false;
    const onEvent = (event: OperationEvent): void => {
      const happened = event as SessionEvent;
      isTold = false;
      if (happened.type === 'turn-start') isForeign = happened.origin !== 'person';
      if (isForeign || happened.type === 'notice') view.show(happened);
      if (happened.type === 'turn-end' || happened.type === 'turn-failed') {
        if (isForeign && happened.type === 'turn-failed') say(style('red', foreign(happened.message)));
        isForeign = false;
      }
    };
    let heard: Promise<void> | undefined;
    const listen = (): void => {
      heard ??= gateway
        .run(sessionsEvents, { id }, { signal: listening.signal, onEvent })
        .catch((error: unknown) => {
          if (!listening.signal.aborted && !isTold)
            say(
              style(
                'yellow',
                `What comes late in this conversation is not shown until your next message: ${foreign(messageOf(error))}`,
              ),
            );
        })
        .then(() => {
          isTold = true;
          isForeign = false;
          heard = undefined;
        });
    };
    listen();
    return {
      id,
      listen,
      close: async () => {
        listening.abort();
        await heard;
        views.delete(view);
      },
    };
  }

  function viewOf(): ChatView {
    const view = createChatView({ words: terminal.write, lines: write, isShared: true, printer, clock });
    views.add(view);
    return view;
  }

  /** False when nobody got the message. */
  const answer = async (message: string): Promise<boolean> => {
    const view = viewOf();
    turn = new AbortController();
    session.listen();
    try {
      await gateway.run(
        sessionsSend,
        { id: session.id, message, workspace },
        { signal: turn.signal, onEvent: (event) => view.show(event as SessionEvent) },
      );
      return true;
    } catch (error) {
      if (turn.signal.aborted) say(style('yellow', '(stopped)'));
      else sayError(error);
      if (turn.signal.aborted || !isUnreached(error)) return true;
      say(style('yellow', 'Your message was not sent; the key arrow up brings it back.'));
      return false;
    } finally {
      turn = undefined;
      view.endLine();
      views.delete(view);
    }
  };

  const later = new Set<string>();
  /** Open questions of the session, in place, as forms. */
  const askQuestions = async (): Promise<void> => {
    const { questions } = await gateway.run(questionsList, {});
    const open = questions.filter(({ id, session: owner }) => owner === `session/${session.id}` && !later.has(id));
    for (const question of open) {
      for (;;) {
        const given = await askForm(question, { ask: terminal.askAnew, say });
        if (given === 'later') {
          later.add(question.id);
          say(`It stays open: gantry questions answer ${toCell(question.id)}`);
          break;
        }
        try {
          await (given === 'decline'
            ? gateway.run(questionsDecline, { id: question.id })
            : gateway.run(questionsAnswer, { id: question.id, answers: given.answers }));
          break;
        } catch (error) {
          sayError(error);
          if (!GantryError.is(error) || error.code !== 'invalid_arguments') break;
        }
      }
    }
  };

  const showHistory = async (): Promise<void> => {
    const { turns } = await gateway.run(sessionsShow, { id: session.id, limit: 50 });
    if (turns.length === 0) say('Nothing has been said yet.');
    for (const { role, text, toolCalls, status } of turns) {
      const calls = toolCalls.length === 0 ? '' : style('dim', ` (${toolCalls.length} calls)`);
      const end = status === undefined || status === 'done' ? '' : style('dim', ` (${status})`);
      say(`${style('bold', role === 'user' ? 'you' : 'agent')}${calls}${end}: ${foreign(text)}`);
    }
  };

  /** Does what a line asks for. */
  const obey = async (text: string): Promise<'leave' | 'stay'> => {
    if (text === '/exit' || text === '/quit') return 'leave';
    if (text === '/help') say(help);
    else if (text === '/history') await showHistory();
    else if (text === '/forget') {
      await gateway.run(sessionsForget, { id: session.id });
      say('Forgotten.');
      return 'leave';
    } else if (text === '/new') {
      await session.close();
      session = openSession(newSessionId());
      say(`Session ${session.id}.`);
    } else if (/^\/\w+$/.test(text)) say(`There is no ${toCell(text)}; /help shows what there is.`);
    else if (await answer(text)) await askQuestions();
    return 'stay';
  };

  try {
    for (;;) {
      const text = (await terminal.ask('> '))?.trim();
      if (text === undefined) return;
      if (text === '') continue;
      try {
        if ((await obey(text)) === 'leave') return;
      } catch (error) {
        if (interrupted.aborted) return;
        // The gateway may be back with the next message.
        sayError(error);
      }
    }
  } finally {
    interrupted.removeEventListener('abort', end);
    await session.close();
  }
};

/** A conversation that is listened to. */
interface ChatSession {
  readonly id: string;
  /** Listens again, when the gateway had gone. */
  readonly listen: () => void;
  readonly close: () => Promise<void>;
}
