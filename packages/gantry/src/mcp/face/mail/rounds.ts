/**
 * Later requests of calls that wait for their clients. Such a call is held by one process, as its server holds a stream open towards it; the
 * client comes back to any. That one leaves for the other what the client says, and waits for what comes of it. The call itself never moves.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { orAborted, throwIfAborted } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Mailbox } from './mailbox.ts';
import { maxLetterChars } from './mailbox.ts';
import { gatherNotices } from './gather-notices.ts';
import { fromRpc, toRpc } from './rpc-error.ts';

/** One later request of a call. */
export interface Round {
  /** What the call is parked under. */
  readonly name: string;
  /** Whose it has to be. */
  readonly owner: string;
  /** The answers of the client, and what else the call needs of the request. */
  readonly said: JsonObject;
  readonly signal: AbortSignal;
  /** Tells the client something before the result. */
  tell(notice: JsonObject): void;
}

/** Goes on with a call; gives its result, or what is asked next. */
export type GoOn = (round: Round) => Promise<JsonObject>;

/** Calls that wait, in this process or another. Disposing ends the rounds that run here for others. */
export interface Rounds extends AsyncDisposable {
  /** @throws {ProtocolError} what the call throws; invalid params when it is not open any more. */
  readonly serve: GoOn;
}

/** Makes them; `goOn` serves those of this process, and `topic` tells one kind of calls from another. */
export const createRounds = (options: {
  readonly mailbox: Mailbox;
  readonly topic: string;
  readonly goOn: GoOn;
  readonly clock: Clock;
  readonly log: Log;
}): Rounds => {
  const { mailbox, topic, goOn, clock, log } = options;
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();

  /** Serves a request that came to another process. */
  const serveLetter = async ({ from, thread, name, owner, said }: JsonObject): Promise<void> => {
    if (typeof from !== 'string' || typeof thread !== 'string') return;
    if (typeof name !== 'string' || typeof owner !== 'string' || !isObject(said)) return;
    using heard = new DisposableStack();
    const leaving = new AbortController();
    const leave = (): void => leaving.abort(new GantryError('cancelled', 'The client has gone.'));
    heard.use(mailbox.hear(thread, leave));
    heard.use(mailbox.look());
    const over = new AbortController();
    heard.defer(() => over.abort());
    mailbox.untilGone(from, over.signal).then(leave, () => undefined);
    const notices = gatherNotices(clock, (all) => mailbox.send(from, thread, { notices: all }));
    const signal = AbortSignal.any([leaving.signal, stopping.signal]);
    let answer: JsonObject;
    try {
      answer = { result: await goOn({ name, owner, said, signal, tell: notices.add }) };
    } catch (error) {
      answer = { error: toRpc(error) };
    }
    await notices.end();
    if (!(await mailbox.send(from, thread, answer)))
      await mailbox.send(from, thread, { error: toRpc(tooLarge('The call was carried out, but its result')) });
  };
  const hearing = mailbox.hear(topic, (letter) => {
    const round = serveLetter(letter).catch((error: unknown) =>
      log.warn({ reason: messageOf(error) }, 'what came of a call could not be left for the process that asked for it'),
    );
    running.add(round);
    void round.finally(() => running.delete(round));
  });

  const serveElsewhere = async (to: string, { name, owner, said, signal, tell }: Round): Promise<JsonObject> => {
    using heard = new DisposableStack();
    const thread = newId();
    const ended = Promise.withResolvers<JsonObject>();
    // What comes when nobody waits any more is nobody's.
    ended.promise.catch(() => undefined);
    let isOver = false;
    heard.use(
      mailbox.hear(thread, ({ notices, result, error }) => {
        if (Array.isArray(notices)) {
          for (const notice of notices as readonly JsonObject[]) tell(notice);
          return;
        }
        isOver = true;
        if (isObject(result)) ended.resolve(result);
        else ended.reject(fromRpc(error));
      }),
    );
    const looking = heard.use(mailbox.look());
    await looking.isSeen;
    if (!(await mailbox.isThere(to))) throw notOpen();
    // A client that has gone meanwhile answers nothing.
    throwIfAborted(signal);
    if (!(await mailbox.send(to, topic, { from: mailbox.address, thread, name, owner, said })))
      throw tooLarge('The answer');
    const over = new AbortController();
    heard.defer(() => over.abort());
    const gone = mailbox.untilGone(to, over.signal).then(() => {
      throw isGone();
    });
    gone.catch(() => undefined);
    try {
      return await orAborted(Promise.race([ended.promise, gone]), signal);
    } finally {
      // MCP 2026-07-28: closing the response cancels the request.
      if (!isOver) await mailbox.send(to, thread, { gone: true });
    }
  };

  return {
    serve: async (round) => {
      const [to = ''] = round.name.split('/');
      return to === mailbox.address ? await goOn(round) : await serveElsewhere(to, round);
    },
    [Symbol.asyncDispose]: async () => {
      hearing[Symbol.dispose]();
      stopping.abort(new GantryError('stopped', 'Gantry is stopping.'));
      await Promise.all(running);
    },
  };
};

/** Says that nothing of that name waits. */
export const notOpen = (): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'The call that asked is not open any more: it was answered, given up, or held by a process that has ended. Call again without requestState.',
  );

const isGone = (): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InternalError,
    'The process that held this call has ended, and whether the call was carried out is unknown. Call again without requestState.',
  );

const tooLarge = (what: string): ProtocolError =>
  new ProtocolError(
    ProtocolErrorCode.InternalError,
    `${what} has more than ${maxLetterChars} characters, which is more than goes from one process of the gateway to another.`,
  );
