/**
 * Streams of notices of a program of 2026 for clients of 2026. Each client listens for itself: its request goes on to the program in its own
 * words, over the channel that all share, and what the program says of it comes back.
 */
import { orAborted, startDeadline } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { noAnswerWithin } from '../../wire/no-answer.ts';
import { wholeSaysInMeta } from '../../wire/sessions/client-says.ts';
import type { Exchange, Notice } from '../../wire/sessions/exchange.ts';
import { toRpc } from '../mail/rpc-error.ts';
import { rpcErrorResponse } from '../pass/rpc-response.ts';
import { withoutTaskQuestions } from '../pass/task-questions.ts';
import { withoutHopMeta } from './generations.ts';
import type { ListenRequest } from './listen-to-older.ts';
import type { NewerRequest } from './newer-requests.ts';
import { noticeStream } from './notice-stream.ts';
import { ownerOf } from './relayed.ts';
import { isAnswer, resultOf } from './tasks/task-way.ts';

// A stream has not more to do with questions than that.
const mostAnswered = 1_000;

/** Makes what opens them, by `send`. */
export const createListenToProgram =
  ({
    send,
    clock,
    log,
  }: {
    readonly send: (request: NewerRequest) => Exchange;
    readonly clock: Clock;
    readonly log: Log;
  }) =>
  async ({ target, client, message, signal }: Omit<ListenRequest, 'says'>): Promise<Response> => {
    const { id } = message;
    if (typeof id !== 'string' && typeof id !== 'number')
      return rpcErrorResponse(message, 400, -32_600, 'Invalid request: "id" must be a text or a number.');
    const params = isObject(message['params']) ? (message['params'] as JsonObject) : {};
    const says = wholeSaysInMeta(isObject(params['_meta']) ? params['_meta'] : {});
    const about = { target, client, says, wantsProgress: false, owner: ownerOf({ client }, message) };
    const exchange = send({ ...about, method: 'subscriptions/listen', params: withoutHopMeta(params) });
    const early: Notice[] = [];
    const heard = Promise.withResolvers<void>();
    let say = (notice: Notice): void => {
      early.push(notice);
      heard.resolve();
    };
    const trouble = (reason: string): void => log.warn({ server: target.name, reason }, 'a notice is not passed on');
    const answered = new Set<string>();
    const decline = (taskId: string, responses: JsonObject): void => {
      // SEP-2663: a key is answered at most once; a program that asks it again and again would be answered so.
      const news = Object.entries(responses).filter(([key]) => !answered.has(`${taskId}\n${key}`));
      if (news.length === 0 || answered.size >= mostAnswered) return;
      for (const [key] of news) answered.add(`${taskId}\n${key}`);
      const update = { taskId, inputResponses: Object.fromEntries(news) };
      resultOf(send({ ...about, method: 'tasks/update', params: update }), signal).catch((error: unknown) =>
        trouble(messageOf(error)),
      );
    };
    exchange.hear(({ method, params: said }) => {
      // What has another name is none, and could be taken for a question.
      if (!method.startsWith('notifications/')) return trouble('it has no name of a notice');
      try {
        const { carrier, declined } = withoutTaskQuestions(target, said, { isRound: false });
        for (const { taskId, responses } of declined) decline(taskId, responses);
        say({ method, params: carrier });
      } catch (error) {
        trouble(messageOf(error));
      }
    });
    // It ends by itself only when the program ends it.
    const ended = exchange.next(new AbortController().signal);
    using patience = startDeadline(clock, target.callTimeoutMs, {
      signal,
      onExpiry: () => noAnswerWithin(target.name, target.callTimeoutMs),
    });
    try {
      await orAborted(Promise.race([heard.promise, ended]), patience.signal);
    } catch (error) {
      exchange.abandon();
      throw error;
    }
    return noticeStream({
      id,
      clock,
      signal,
      onEnd: () => exchange.abandon(),
      start: (stream) => {
        say = stream.say;
        for (const notice of early.splice(0)) say(notice);
        ended.then(
          () => stream.finish(),
          (error: unknown) => {
            log.debug({ server: target.name, reason: messageOf(error) }, 'a stream of notices ended');
            stream.finish(isAnswer(error) ? toRpc(error) : undefined);
          },
        );
      },
    });
  };
