import { abortReason, throwIfAborted } from '../kernel/abort.ts';
import type { Clock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { Log } from '../kernel/log.ts';
import type { Bus, MessageHandler, Subscription } from './bus.ts';
import { createEnvelope, type Envelope, type Headers } from './envelope.ts';

/** One question to the other side of the bus. */
export interface RequestOptions {
  readonly messageType: string;
  readonly body: unknown;
  readonly headers?: Headers | undefined;
  readonly destination?: string | undefined;
  /** How long to wait for the reply, including a first subscription and the publishing. */
  readonly timeoutMs: number;
  /** Gives up waiting. The other side is not told; send `tool.cancel` with the correlation id where that matters. */
  readonly signal?: AbortSignal | undefined;
  /** Known beforehand when progress or a cancellation must name it; must not be in use. Default: a new id. */
  readonly correlationId?: string | undefined;
  /** Makes the error of an expired wait; default a `timeout` error that names the topic. */
  readonly onTimeout?: (() => GantryError) | undefined;
}

/** Asks over the bus and waits for the answer. Disposing rejects everything that still waits with `stopped`. */
export interface Requester extends AsyncDisposable {
  /**
   * Publishes the request and resolves with the reply that carries its correlation id.
   * @throws {GantryError} `timeout`; the signal's reason (`cancelled`); `stopped` after disposal; whatever publishing threw.
   */
  request(topic: string, options: RequestOptions): Promise<Envelope>;
}

/** What a {@link Requester} works with. */
export interface RequesterOptions {
  readonly bus: Bus;
  /** Where replies come in. Subscribed to at the first request; a failed attempt is repeated by the next request. */
  readonly replyTopic: string;
  readonly subscriptionName: string;
  /** Who asks: the `source` of the requests. */
  readonly source: string;
  readonly log: Log;
  readonly clock: Clock;
}

/** Makes a {@link Requester} with its own reply subscription. */
export const createRequester = (options: RequesterOptions): Requester => {
  const { bus, replyTopic, subscriptionName, source, log, clock } = options;
  const pending = new Map<string, PromiseWithResolvers<Envelope>>();
  let subscription: Promise<Subscription> | undefined;
  let isSubscribed = false;
  let isStopped = false;

  const onReply: MessageHandler = async (reply) => {
    const waiting = reply.correlationId === undefined ? undefined : pending.get(reply.correlationId);
    // A reply after its request gave up is normal.
    if (waiting === undefined)
      log.debug(
        { replyTopic, correlationId: reply.correlationId, messageType: reply.messageType },
        'Unexpected reply.',
      );
    else waiting.resolve(reply);
    return 'ack';
  };

  const subscribe = async (): Promise<void> => {
    // Nothing orders replies to different requests, so none has to wait for another.
    subscription ??= bus.subscribe(replyTopic, subscriptionName, onReply, {
      concurrency: Infinity,
      // Only the process that asked knows what to do with a reply.
      perProcess: true,
    });
    const attempt = subscription;
    try {
      await attempt;
      isSubscribed = true;
    } catch (error) {
      if (subscription === attempt) subscription = undefined;
      throw error;
    }
  };

  const send = async (topic: string, envelope: Envelope, correlationId: string): Promise<void> => {
    if (!isSubscribed) await subscribe();
    if (pending.has(correlationId)) await bus.publish(topic, envelope);
  };

  const request = async (topic: string, options: RequestOptions): Promise<Envelope> => {
    const { signal, timeoutMs, correlationId = newId() } = options;
    throwIfAborted(signal);
    if (isStopped) throw stopped();
    if (pending.has(correlationId))
      throw new GantryError('record_exists', `A request with the correlation id "${correlationId}" waits already.`, {
        details: { id: correlationId },
      });
    const envelope = createEnvelope({
      messageType: options.messageType,
      source,
      body: options.body,
      correlationId,
      replyTo: replyTopic,
      destination: options.destination,
      headers: options.headers,
    });
    const waiting = Promise.withResolvers<Envelope>();
    pending.set(correlationId, waiting);
    const onExpiry = (): void => waiting.reject(options.onTimeout?.() ?? noReply(topic, timeoutMs));
    const timer = clock.startTimer(timeoutMs, onExpiry, { keepsAlive: true });
    const onAbort = (): void => waiting.reject(abortReason(signal as AbortSignal));
    signal?.addEventListener('abort', onAbort);
    send(topic, envelope, correlationId).catch(waiting.reject);
    try {
      return await waiting.promise;
    } finally {
      pending.delete(correlationId);
      timer.stop();
      signal?.removeEventListener('abort', onAbort);
    }
  };

  return {
    request,
    [Symbol.asyncDispose]: async () => {
      isStopped = true;
      for (const waiting of pending.values()) waiting.reject(stopped());
      const [settled] = await Promise.allSettled([subscription]);
      if (settled.status === 'fulfilled') await settled.value?.[Symbol.asyncDispose]();
    },
  };
};

const noReply = (topic: string, timeoutMs: number): GantryError =>
  new GantryError('timeout', `No reply on "${topic}" within ${timeoutMs} ms.`, { details: { topic, timeoutMs } });

const stopped = (): GantryError =>
  new GantryError('stopped', 'The request was given up because its sender is stopping.');
