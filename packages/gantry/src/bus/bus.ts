import type { Envelope } from './envelope.ts';

/**
 * What becomes of a message: `ack`, it is dealt with; `retry`, give it again, behind what already waits; `dead-letter`, it
 * can never be dealt with.
 */
export type Verdict = 'ack' | 'retry' | 'dead-letter';

/** Receives the messages of a subscription, with the topic each was published to. */
export type MessageHandler = (envelope: Envelope, topic: string) => Promise<Verdict>;

/** How a subscription is served. */
export interface SubscribeOptions {
  /** How many messages the handler may have at once, 1 or more, `Infinity` allowed. Default 1: strictly one after another. */
  readonly concurrency?: number | undefined;
  /**
   * Where several processes share the bus, each has a queue of this name for itself, which ends with it: for replies, and for what every
   * process must hear. Default false: the processes share one queue and compete.
   */
  readonly perProcess?: boolean | undefined;
}

/**
 * One subscriber. Disposing stops delivery at once and resolves when the handlers that run have ended, so a handler must not
 * wait for the disposal of its own subscription. Disposing twice is safe.
 */
export interface Subscription extends AsyncDisposable {
  /** The pattern subscribed to. */
  readonly topic: string;
  readonly subscriptionName: string;
  /** True until disposal begins. */
  readonly isActive: boolean;
}

/**
 * Carries messages between the parts of Gantry. An implementer guarantees:
 *
 * - A message goes once to every subscription name whose pattern fits its topic (patterns: `topic-pattern.ts`). Subscribers
 *   that share a name share one queue and compete: one of them gets each message.
 * - A queue is first in, first out. A slow or failing handler holds up its own queue only, never the publisher.
 * - A handler that answers `retry` gets the message at most three more times, each time behind what already waits; then it
 *   is dropped with a log line. `dead-letter` ends it at once; so does a handler that throws. Both are logged, and the
 *   next message is delivered as usual.
 * - A message that nobody subscribes to is gone: that is no error, and it is not kept for later. (A bus between processes may keep the
 *   queue of a name for subscribers that come back.)
 * - Envelopes arrive with every field they were published with; bodies survive as JSON.
 * - A message published after `subscribe` resolved reaches that subscription.
 *
 * Disposing a bus disposes its subscriptions. `testing/contracts/bus-contract.ts` checks all of this.
 */
export interface Bus extends AsyncDisposable {
  /**
   * Hands the message over; does not wait for handlers.
   * @throws {GantryError} `stopped` after the bus was disposed.
   */
  publish(topic: string, envelope: Envelope): Promise<void>;
  /**
   * Starts delivery of messages whose topic fits the pattern.
   * @throws {GantryError} `subscription_conflict` when the name serves another pattern; `stopped` after disposal.
   */
  subscribe(
    pattern: string,
    subscriptionName: string,
    handler: MessageHandler,
    options?: SubscribeOptions,
  ): Promise<Subscription>;
}
