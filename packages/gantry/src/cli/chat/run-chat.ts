import type { SessionEvent } from '../../agent/sessions/session-events.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { questionsAnswer, questionsDecline, questionsList } from '../../operations/questions.ts';
import { sessionsEvents, sessionsForget, sessionsSend, sessionsShow } from '../../operations/sessions.ts';
import type { Gateway } from '../gateway.ts';
import { toCell } from '../output/printable.ts';
import type { Printer } from '../output/printer.ts';
import { askForm } from './ask-form.ts';
import { createChatView } from './chat-view.ts';
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
}

const help = [
  '/new       begins another conversation',
  '/history   shows this conversation',
  '/forget    forgets this conversation and leaves',
  '/exit      leaves; so does Ctrl-D',
  'Ctrl-C     stops the turn that runs',
].join('\n');

/** Talks with a person until he leaves. Failed turns are told and the chat goes on. */
export const runChat = async (options: ChatOptions): Promise<void> => {
  const { gateway, terminal, printer, clock, workspace, newSessionId } = options;
  const { style, foreign } = printer;
  const say = (line: string): void => terminal.write(`${line}\n`);
  let session = openSession(options.sessionId);
  let turn: AbortController | undefined;
  terminal.onInterrupt(() => {
    turn?.abort(new GantryError('cancelled', 'Stopped.'));
    return turn !== undefined;
  });

  /** Hears what happens in the session beside the turns that are asked for here. */
  function openSession(id: string): { readonly id: string; readonly close: () => Promise<void> } {
    const listening = new AbortController();
    const view = viewOf();
    let isForeign = false;
    const heard = gateway
      .run(
        sessionsEvents,
        { id },
        {
          signal: listening.signal,
          onEvent: (event) => {
            const happened = event as SessionEvent;
            if (happened.type === 'turn-start') isForeign = happened.origin !== 'person';
            if (isForeign || happened.type === 'notice') view.show(happened);
            if (happened.type === 'turn-end' || happened.type === 'turn-failed') {
              if (isForeign && happened.type === 'turn-failed') say(style('red', foreign(happened.message)));
              isForeign = false;
            }
          },
        },
      )
      .catch((error: unknown) => {
        if (!listening.signal.aborted)
          say(
            style('yellow', `What comes late in this conversation is not shown any more: ${foreign(messageOf(error))}`),
          );
      });
    return {
      id,
      close: async () => {
        listening.abort();
        await heard;
      },
    };
  }

  function viewOf() {
    return createChatView({ words: terminal.write, lines: say, isShared: true, printer, clock });
  }

  const answer = async (message: string): Promise<void> => {
    const view = viewOf();
    turn = new AbortController();
    try {
      await gateway.run(
        sessionsSend,
        { id: session.id, message, workspace },
        { signal: turn.signal, onEvent: (event) => view.show(event as SessionEvent) },
      );
    } catch (error) {
      view.endLine();
      say(turn.signal.aborted ? style('yellow', '(stopped)') : style('red', foreign(messageOf(error))));
    } finally {
      turn = undefined;
    }
    view.endLine();
  };

  const later = new Set<string>();
  /** Open questions of the session, in place, as forms. */
  const askQuestions = async (): Promise<void> => {
    const { questions } = await gateway.run(questionsList, {});
    const open = questions.filter(({ id, session: owner }) => owner === `session/${session.id}` && !later.has(id));
    for (const question of open) {
      for (;;) {
        const given = await askForm(question, { ask: terminal.ask, say });
        if (given === 'later') {
          later.add(question.id);
          say(`It stays open: gantry questions answer ${question.id}`);
          break;
        }
        try {
          await (given === 'decline'
            ? gateway.run(questionsDecline, { id: question.id })
            : gateway.run(questionsAnswer, { id: question.id, answers: given.answers }));
          break;
        } catch (error) {
          say(style('red', foreign(messageOf(error))));
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

  try {
    for (;;) {
      const line = await terminal.ask('> ');
      const text = line?.trim();
      if (text === undefined || text === '/exit' || text === '/quit') return;
      if (text === '') continue;
      if (text === '/help') say(help);
      else if (text === '/history') await showHistory();
      else if (text === '/forget') {
        await gateway.run(sessionsForget, { id: session.id });
        say('Forgotten.');
        return;
      } else if (text === '/new') {
        await session.close();
        session = openSession(newSessionId());
        say(`Session ${session.id}.`);
      } else if (/^\/\w+$/.test(text)) say(`There is no ${toCell(text)}; /help shows what there is.`);
      else {
        await answer(text);
        await askQuestions();
      }
    }
  } finally {
    await session.close();
  }
};
