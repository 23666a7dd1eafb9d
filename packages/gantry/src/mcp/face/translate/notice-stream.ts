import type { Clock, Timer } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { messageEvent } from '../../wire/sessions/event-texts.ts';
import type { Notice } from '../../wire/sessions/exchange.ts';
import { subscriptionIdKey } from '../../wire/subscription-id.ts';

/** The answer to a `subscriptions/listen` of a client of 2026 (MCP 2026-07-28, "Subscriptions"). */
export interface NoticeStream {
  /** Says a notice, under the id of the client's own request. */
  say(notice: Notice): void;
  /** Ends the stream with a result, or with the error that the server ended it with. */
  finish(error?: JsonObject): void;
  /** Aborts when it has ended, however. */
  readonly over: AbortSignal;
}

const keepAliveMs = 15_000;
// As much as of the progress of a call. The state of a task brings its result along.
const mostWaitingBytes = 8 * 1024 * 1024;

/** Makes one; `start` is called with it as soon as it can be written to, and `onEnd` once. */
export const noticeStream = (options: {
  readonly id: string | number;
  readonly clock: Clock;
  /** Finishes it. */
  readonly signal: AbortSignal;
  readonly start: (stream: NoticeStream) => void;
  readonly onEnd: () => void;
}): Response => {
  const { id, clock, signal, onEnd } = options;
  const encoder = new TextEncoder();
  const over = new AbortController();
  const stamp = { [subscriptionIdKey]: id };
  let alive: Timer | undefined;
  let finish: NoticeStream['finish'] = () => {};
  const stopped = (): void => finish();
  const end = (): void => {
    if (over.signal.aborted) return;
    over.abort();
    alive?.stop();
    signal.removeEventListener('abort', stopped);
    onEnd();
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (controller) => {
        const write = (text: string): void => {
          if (over.signal.aborted) return;
          if ((controller.desiredSize ?? 0) <= 0) {
            // Whoever does not read is let go of, with what waits for it, and listens anew.
            end();
            return controller.error(new Error('The client did not read what it listens to.'));
          }
          controller.enqueue(encoder.encode(text));
        };
        const event = (said: JsonObject): string => messageEvent(JSON.stringify({ jsonrpc: '2.0', ...said }));
        const keepAlive = (): void => {
          write(': keepalive\n\n');
          if (!over.signal.aborted) alive = clock.startTimer(keepAliveMs, keepAlive);
        };
        finish = (error) => {
          if (over.signal.aborted) return;
          end();
          const said = error ? { id, error } : { id, result: { resultType: 'complete', _meta: stamp } };
          controller.enqueue(encoder.encode(event(said)));
          controller.close();
        };
        alive = clock.startTimer(keepAliveMs, keepAlive);
        const say = ({ method, params }: Notice): void => {
          const meta = isObject(params['_meta']) ? params['_meta'] : {};
          write(event({ method, params: { ...params, _meta: { ...meta, ...stamp } } }));
        };
        options.start({ say, finish, over: over.signal });
        if (signal.aborted) finish();
        else signal.addEventListener('abort', stopped, { once: true });
      },
      cancel: end,
    },
    new ByteLengthQueuingStrategy({ highWaterMark: mostWaitingBytes }),
  );
  return new Response(body, {
    headers: {
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    },
  });
};
