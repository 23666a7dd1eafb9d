import type { SessionEvent } from '../../agent/sessions/session-events.ts';
import { howToConfigure } from '../../agent/models/tier-models.ts';
import { GantryError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { questionsList } from '../../operations/questions.ts';
import { sessionsList, sessionsSend, sessionsShow } from '../../operations/sessions.ts';
import { createChatView } from '../chat/chat-view.ts';
import { createLastingGateway } from '../chat/lasting-gateway.ts';
import { runChat } from '../chat/run-chat.ts';
import { isInteractive, openTerminal } from '../chat/terminal.ts';
import type { CommandContext, Command } from '../command-context.ts';
import { interruptedCodeOf } from '../exit-code.ts';
import type { Gateway } from '../gateway.ts';
import { findAgain, openGateway } from '../gateway.ts';
import { toCell } from '../output/printable.ts';
import { createPrinter } from '../output/printer.ts';

/** Flags of `gantry chat`. */
export interface ChatFlags {
  readonly session?: string | undefined;
  readonly workspace?: string | undefined;
  readonly message?: string | undefined;
}

const earlierLines = 50;

/** `gantry chat`; ends with 130 or 143 when a signal ended it. */
export const runChatCommand: Command<[ChatFlags]> = async (context, given) => {
  const { io } = context;
  try {
    return await chat(context, given);
  } catch (error) {
    if (!io.interrupted.aborted) throw error;
    io.stderr.write('gantry: interrupted\n');
    return interruptedCodeOf(io.interrupted.reason);
  }
};

const chat: Command<[ChatFlags]> = async (context, { session, workspace, message }) => {
  const { io, flags } = context;
  const isTalk = message === undefined && isInteractive(io);
  if (isTalk && flags.json)
    throw new GantryError('usage', 'With --json there is one turn: give --message TEXT, or a text on standard input.');
  const text = isTalk ? undefined : (message ?? (await readAll(io.stdin)));
  await using gateway = await openGateway(context);
  const { model, sessions } = await gateway.run(sessionsList, {});
  // What is said once is refused with what is missing.
  if (model === null && text === undefined)
    throw new GantryError(
      'model_missing',
      `${howToConfigure} When one is set already, "gantry doctor" says what it lacks.`,
    );
  const sessionId = session ?? newSessionId(io.clock.nowMs());
  if (text !== undefined) {
    if (text.trim() === '')
      throw new GantryError('usage', 'There is nothing to say: give --message TEXT, or a text on standard input.');
    await sayOnce(context, gateway, { sessionId, workspace, text });
    return 0;
  }
  const printer = createPrinter(context);
  const known = sessions.find(({ id }) => id === sessionId);
  const turns = known ? (await gateway.run(sessionsShow, { id: sessionId, limit: earlierLines })).turns : [];
  io.stdout.write(
    `${printer.style('bold', 'gantry chat')}  session ${sessionId}${known ? ` (${known.turns} turns)` : ''}, model ${toCell(model ?? 'none')}. /help for commands.\n`,
  );
  using terminal = openTerminal(io, {
    history: turns
      .filter(({ origin }) => origin === 'person')
      .map((turn) => toCell(turn.text))
      .toReversed(),
  });
  await runChat({
    gateway: createLastingGateway(gateway, () => findAgain(context)),
    terminal,
    printer,
    clock: io.clock,
    sessionId,
    workspace,
    newSessionId: () => newSessionId(io.clock.nowMs()),
    interrupted: io.interrupted,
  });
  io.interrupted.throwIfAborted();
  return 0;
};

/** One turn: the answer on standard output, what tools do on standard error. */
const sayOnce = async (
  context: CommandContext,
  gateway: Gateway,
  { sessionId, workspace, text }: { sessionId: string; workspace: string | undefined; text: string },
): Promise<void> => {
  const { io, flags } = context;
  const printer = createPrinter(context);
  const isStreamed = flags.json !== true;
  const view = createChatView({
    words: (piece) => isStreamed && io.stdout.write(piece),
    lines: printer.note,
    isShared: io.stdout.isTTY === true && io.stderr.isTTY === true,
    // Standard error is not the place that colours were decided for.
    printer: { foreign: printer.foreign, style: (_style, plain) => plain },
    clock: io.clock,
  });
  // A model that is asked again may say the same once more, and a pipe cannot take words back.
  let streamed = '';
  let beforeCalls = '';
  const reply = await gateway.run(
    sessionsSend,
    { id: sessionId, message: text, workspace },
    {
      onEvent: (event) => {
        const happened = event as SessionEvent;
        if (happened.type === 'text') streamed += happened.text;
        if (happened.type === 'tool-start' && streamed !== '') beforeCalls = streamed;
        if (happened.type === 'tool-start' || happened.type === 'again') streamed = '';
        view.show(happened);
      },
    },
  );
  view.endLine();
  // A turn may end beside its last calls, with what was said before them.
  const isShown = [streamed, beforeCalls].some((text) => text.trim() === reply.reply.trim());
  if (isStreamed && !isShown) io.stdout.write(`${printer.foreign(reply.reply)}\n`);
  if (flags.json) printer.result(reply, () => reply.reply);
  const { questions } = await gateway.run(questionsList, {});
  for (const { id, server, message, session } of questions)
    if (session === `session/${sessionId}`)
      printer.note(
        `${toCell(server)} asks: ${toCell(message)} Answer it: gantry questions answer ${toCell(id)} --answers '{…}'`,
      );
};

const newSessionId = (nowMs: number): string =>
  `chat-${new Date(nowMs).toISOString().slice(0, 10)}-${newId().slice(0, 6)}`;

const readAll = async (input: AsyncIterable<Buffer | string>): Promise<string> => {
  const pieces: Buffer[] = [];
  for await (const piece of input) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString('utf8');
};
