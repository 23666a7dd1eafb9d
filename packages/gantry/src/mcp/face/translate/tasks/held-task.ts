import type { Json, JsonObject } from '../../../../kernel/json.ts';
import { isObject } from '../../../../kernel/json.ts';
import { messageOf } from '../../../../kernel/errors.ts';
import type { Log } from '../../../../kernel/log.ts';
import type { PassTarget } from '../../../wire/pass-port.ts';
import type { ClientSays } from '../../../wire/sessions/client-says.ts';
import type { Exchange, Notice, ServerRequest } from '../../../wire/sessions/exchange.ts';
import { toInputRequests, withoutHopMeta, withoutNewer } from '../generations.ts';
import { withoutRefused } from '../without-refused.ts';
import { isOver, toNewerTask } from './task-forms.ts';
import type { TaskWay } from './task-way.ts';
import { isAnswer, resultOf } from './task-way.ts';

/**
 * A task that a server of 2025 runs for a client of 2026. The server asks on a request that waits for the end of the task, so one is open as
 * long as it runs; the client finds the questions in the state of the task. Disposing leaves the task to the server.
 */
export interface HeldTask extends Disposable {
  /** Whether its client has been told what it came to. */
  readonly isOver: boolean;
  /** Its state with what it asks or has come to, in the words of 2026. */
  state(signal: AbortSignal): Promise<JsonObject>;
  /** Gives the server the answers to what it asks; those to anything else mean nothing (SEP-2663). */
  answer(responses: Readonly<Record<string, unknown>>): Promise<void>;
  /** Says that it is not wanted any more; whether it ends for that is the server's. */
  cancel(signal: AbortSignal): Promise<void>;
  /** What its client can be asked for from now on. */
  hears(says: ClientSays): void;
  /** Calls `changed` when the server says that its state is another; undefined where that is not heard. */
  readonly watch?: ((changed: () => void) => Disposable) | undefined;
}

interface OpenQuestion {
  readonly exchange: Exchange;
  readonly request: ServerRequest;
}

// As many as one request may have open; a server that breaks off and asks anew has no more.
const mostQuestions = 50;

/** Begins to hear the server; `end` is told whether the task has ended when it is not held any more. */
export const holdTask = (options: {
  readonly target: Pick<PassTarget, 'name' | 'isDeclined'>;
  readonly taskId: string;
  readonly way: TaskWay;
  readonly says: ClientSays;
  readonly end?: ((how: 'ended' | 'broken') => void) | undefined;
  readonly log: Log;
}): HeldTask => {
  const { target, taskId, way, log } = options;
  const over = new AbortController();
  const questions = new Map<string, OpenQuestion>();
  const watchers = new Set<() => void>();
  let { says } = options;
  let asked = 0;
  let waiting: Exchange | undefined;
  let hasEnded = false;

  const hear = ({ method, params }: Notice): void => {
    if (method !== 'notifications/tasks/status' || params['taskId'] !== taskId) return;
    for (const changed of watchers) changed();
  };
  const report = (error: unknown): void => {
    // An error of the server's own is what the task has come to.
    if (over.signal.aborted || isAnswer(error)) return;
    log.debug({ server: target.name, reason: messageOf(error) }, 'the end of a task is not waited for any more');
  };
  /**
   * A question outlives the request that it came on, as a server may take its answer all the same. One that asks it again, as it must where it
   * tells of everything anew, asks nothing new.
   */
  const keep = (question: OpenQuestion): void => {
    const known = questions.entries().find(([, { request }]) => request.id === question.request.id);
    questions.set(known?.[0] ?? `q${(asked += 1)}`, question);
    const [oldest = ''] = questions.keys();
    if (questions.size > mostQuestions) questions.delete(oldest);
  };
  /** Waits for the end of the task, for what is asked until then. What it comes to is fetched for the client. */
  const wait = async (exchange: Exchange): Promise<void> => {
    try {
      for (;;) {
        const step = await exchange.next(over.signal);
        if ('result' in step) return;
        for (const request of await withoutRefused({ target, exchange }, step.asked, says)) keep({ exchange, request });
        for (const changed of watchers) changed();
      }
    } finally {
      exchange.abandon();
      if (waiting === exchange) waiting = undefined;
    }
  };
  const listen = (): void => {
    if (waiting || hasEnded || over.signal.aborted) return;
    waiting = way.awaitEnd(taskId);
    waiting.hear(hear);
    wait(waiting).catch(report);
  };

  /** What a task that is over has come to. */
  const endOf = async (task: JsonObject, signal: AbortSignal): Promise<JsonObject> => {
    if (task['status'] === 'cancelled') return {};
    try {
      const result = await resultOf(way.request('tasks/result', { taskId }), signal);
      // A result that is an error is a result (SEP-2663); for a server of 2025 such a call has failed.
      return { status: 'completed', result: withoutHopMeta(withoutNewer(result)) };
    } catch (error) {
      if (!isAnswer(error)) throw error;
      return { status: 'failed', error: error.details['rpc'] as Json };
    }
  };

  way.listen?.(hear, over.signal);
  listen();
  return {
    get isOver() {
      return hasEnded;
    },
    state: async (signal) => {
      const task = toNewerTask(await resultOf(way.request('tasks/get', { taskId }), signal), taskId);
      hasEnded = isOver(task);
      if (hasEnded) return { ...task, ...(await endOf(task, signal)) };
      listen();
      // One that asks nothing that its client may hear is at work, as far as that is concerned.
      if (questions.size === 0) return { ...task, status: 'working' };
      const inputRequests = toInputRequests([...questions].map(([key, { request }]) => [key, request]));
      return { ...task, status: 'input_required', inputRequests };
    },
    answer: async (responses) => {
      for (const [key, { exchange, request }] of questions) {
        const said = Object.hasOwn(responses, key) ? responses[key] : undefined;
        if (!isObject(said)) continue;
        questions.delete(key);
        await exchange.answer(request.id, { result: said as JsonObject });
      }
    },
    cancel: async (signal) => {
      try {
        await resultOf(way.request('tasks/cancel', { taskId }), signal);
      } catch (error) {
        if (!isAnswer(error)) throw error;
        // A server of 2025 may not know how, and refuses what is over already; in 2026 the wish is taken of any task that there is.
        await resultOf(way.request('tasks/get', { taskId }), signal);
      }
    },
    hears: (said) => {
      says = said;
    },
    watch:
      way.listen &&
      ((changed) => {
        watchers.add(changed);
        return { [Symbol.dispose]: () => void watchers.delete(changed) };
      }),
    [Symbol.dispose]: () => {
      if (over.signal.aborted) return;
      over.abort();
      options.end?.(hasEnded ? 'ended' : 'broken');
    },
  };
};
