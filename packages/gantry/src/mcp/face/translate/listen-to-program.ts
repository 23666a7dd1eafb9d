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
import type { PassTarget } from '../../wire/pass-port.ts';
import type { Exchange, Notice } from '../../wire/sessions/exchange.ts';
import { rpcErrorResponse } from '../pass/rpc-response.ts';
import { sortQuestions, withOpenQuestions } from '../pass/sort-questions.ts';
import { withoutHopMeta } from './generations.ts';
import type { ListenRequest } from './listen-to-older.ts';
import type { NewerRequest } from './newer-requests.ts';
import { noticeStream } from './notice-stream.ts';
import { saysIn } from './relay-to-newer-program.ts';

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
    const says = saysIn(isObject(params['_meta']) ? params['_meta'] : {});
    const about = { target, client, says, wantsProgress: false };
    const exchange = send({ ...about, method: 'subscriptions/listen', params: withoutHopMeta(params) });
    const early: Notice[] = [];
    const heard = Promise.withResolvers<void>();
    let say = (notice: Notice): void => {
      early.push(notice);
      heard.resolve();
    };
    const decline = (taskId: string, inputResponses: JsonObject): void => {
      const update = send({ ...about, method: 'tasks/update', params: { taskId, inputResponses } });
      update
        .next(signal)
        .catch((error: unknown) =>
          log.warn({ server: target.name, reason: messageOf(error) }, 'a question of a task could not be declined'),
        );
    };
    exchange.hear(({ method, params: said }) => {
      let judged: JsonObject;
      try {
        judged = withoutDeclined(target, said, decline);
      } catch (error) {
        return log.warn({ server: target.name, reason: messageOf(error) }, 'a notice is not passed on');
      }
      say({ method, params: judged });
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
        ended.then(stream.finish, (error: unknown) => {
          log.debug({ server: target.name, reason: messageOf(error) }, 'a stream of notices ended');
          stream.finish();
        });
      },
    });
  };

/** The notice of a task without questions that nobody may answer; they are declined in the client's place. */
const withoutDeclined = (
  target: PassTarget,
  said: JsonObject,
  decline: (taskId: string, responses: JsonObject) => void,
): JsonObject => {
  const { task } = said;
  const inner = isObject(task) ? withoutDeclined(target, task, decline) : task;
  const outer = inner === task ? said : { ...said, task: inner };
  const sorted = sortQuestions(target, outer);
  if (!sorted) return outer;
  const { taskId } = outer;
  if (typeof taskId === 'string') decline(taskId, sorted.responses);
  return withOpenQuestions(outer, sorted) as JsonObject;
};
