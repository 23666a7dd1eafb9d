import type { Clock } from '../../kernel/clock.ts';
import { wholeResponse } from '../../net/whole-response.ts';

/** The HTTP response to one JSON-RPC request. */
export interface Reply {
  /** Resolves when it is decided how to answer: as JSON, or as a stream of events. */
  readonly response: Promise<Response>;
  /** Sends a message before the result, which makes the response a stream. While 8 MB wait for the client to read them it is left out. */
  notify(text: string): void;
  /** Sends the result or error. What is sent afterwards is dropped. */
  finish(text: string): void;
  /** Ends without a result, as after a cancellation. */
  abandon(): void;
}

/** How a reply is made. */
export interface ReplyOptions {
  readonly clock: Clock;
  /** Headers of every response. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** The client has closed the stream before the end. */
  readonly onGone?: (() => void) | undefined;
}

// Proxies and clients give up on a response that stays silent for a minute or so.
const patienceMs = 10_000;
const keepAliveMs = 15_000;
const mostUnreadBytes = 8 * 1024 * 1024;

const encoder = new TextEncoder();

/**
 * Makes a reply: one JSON body when the result comes soon and nothing before it, else a stream of events (MCP Streamable
 * HTTP), which is kept alive while nothing happens.
 */
export const createReply = (options: ReplyOptions): Reply => {
  const { clock, headers, onGone } = options;
  const response = Promise.withResolvers<Response>();
  let events: ReadableStreamDefaultController<Uint8Array> | undefined;
  let isOver = false;

  const send = (text: string): void => events?.enqueue(encoder.encode(text));
  const hasRoom = (): boolean => (events?.desiredSize ?? 0) > 0;
  const keepAlive = (): void => {
    if (hasRoom()) send(': keepalive\n\n');
    timer = clock.startTimer(keepAliveMs, keepAlive);
  };
  const open = (): void => {
    timer.stop();
    timer = clock.startTimer(keepAliveMs, keepAlive);
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          events = controller;
        },
        cancel: () => {
          if (over()) onGone?.();
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: mostUnreadBytes }),
    );
    response.resolve(new Response(body, { headers: { ...headers, ...streamHeaders } }));
  };
  const over = (): boolean => {
    if (isOver) return false;
    isOver = true;
    timer.stop();
    return true;
  };
  let timer = clock.startTimer(patienceMs, open);

  return {
    response: response.promise,
    notify: (text) => {
      if (isOver) return;
      if (!events) open();
      if (hasRoom()) send(toEvent(text));
    },
    finish: (text) => {
      if (!over()) return;
      if (events) {
        send(toEvent(text));
        events.close();
      } else response.resolve(jsonResponse(text, headers));
    },
    abandon: () => {
      if (!over()) return;
      if (events) events.close();
      else response.resolve(new Response('', { headers: { ...headers, ...streamHeaders } }));
    },
  };
};

/** A response of JSON, as text or as bytes. */
export const jsonResponse = (
  json: string | Uint8Array<ArrayBuffer>,
  headers: Readonly<Record<string, string>> | undefined,
): Response => wholeResponse(json, { headers: { ...headers, 'content-type': 'application/json' } });

const streamHeaders = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' };

const toEvent = (text: string): string => `event: message\ndata: ${text}\n\n`;
