import { abortReason, delay, orAborted, startDeadline } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { type GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { MessageHandler, Subscription, Verdict } from '../bus.ts';
import { parseTopicPattern } from '../topic-pattern.ts';
import { isRefusal, refused, unreachable } from './broker-fault.ts';
import type { BrokerChannel, BrokerLink, BrokerMessage } from './broker-link.ts';
import { type DecodedMessage, decodeMessage } from './message-codec.ts';
import { createMessageJudge } from './message-judge.ts';
import type { Publisher } from './publisher.ts';
import type { QueuePlan, Topology } from './topology.ts';

/** What a consumer works with. */
export interface QueueConsumerOptions {
  readonly link: BrokerLink;
  readonly topology: Topology;
  readonly publisher: Publisher;
  readonly plan: QueuePlan;
  readonly subscriptionName: string;
  readonly handler: MessageHandler;
  /** Messages that the handler may have at once. */
  readonly atOnce: number;
  /** How long the first connection is waited for. */
  readonly waitMs: number;
  readonly retryMs: { readonly first: number; readonly longest: number };
  readonly clock: Clock;
  readonly log: Log;
}

/**
 * Serves a queue, declaring it first; after a lost connection as soon as there is one again. The handler has exactly the messages that
 * the broker counts as under way, so what waits stays where other processes can take it.
 *
 * @throws {GantryError} `bus_unreachable`, or `execution_failed` when the broker refuses the queue.
 */
export const consumeQueue = async (options: QueueConsumerOptions): Promise<Subscription> => {
  const { link, topology, publisher, plan, subscriptionName, handler, atOnce, waitMs, retryMs, clock, log } = options;
  const { queue, pattern, perProcess } = plan;
  const { matches } = parseTopicPattern(pattern);
  const { judge } = createMessageJudge({ subscriptionName, handler, log });
  const running = new Set<Promise<void>>();
  const stopping = new AbortController();
  let serving: { readonly channel: BrokerChannel; readonly consumerTag: string } | undefined;
  let leaving: Promise<void> | undefined;

  const start = async (): Promise<void> => {
    const channel = await link.openChannel();
    try {
      await topology.declareExchange(channel);
      await topology.declareQueue(channel, plan);
      await channel.basicQos({ prefetchCount: atOnce });
      channel.on('basic.cancel', () => void channel.close());
      const receive = (message: BrokerMessage): void => take(channel, message);
      const { consumerTag } = await channel.basicConsume({ queue }, receive);
      channel.on('close', () => void restart());
      serving = { channel, consumerTag };
    } catch (error) {
      await channel.close();
      throw error;
    }
    if (stopping.signal.aborted) await channel.close();
  };

  /** Tries until it works; gives up on a refusal, or when the signal aborts. */
  const startAtLast = async (signal: AbortSignal): Promise<void> => {
    for (let pauseMs = retryMs.first; ; pauseMs = Math.min(pauseMs * 2, retryMs.longest)) {
      try {
        return await orAborted(start(), signal);
      } catch (error) {
        if (signal.aborted) throw abortReason(signal);
        if (isRefusal(error)) throw refused(link, `the queue "${queue}"`, error);
        log.debug({ queue, reason: messageOf(error) }, 'the queue cannot be served yet');
      }
      await delay(clock, pauseMs, signal);
    }
  };

  const restart = async (): Promise<void> => {
    serving = undefined;
    if (stopping.signal.aborted) return;
    try {
      await startAtLast(stopping.signal);
    } catch (error) {
      if (!stopping.signal.aborted)
        log.error({ queue, subscriptionName, err: error }, 'A subscription has ended: the broker refuses its queue.');
    }
  };

  const take = (channel: BrokerChannel, message: BrokerMessage): void => {
    // What comes after a subscription has begun to end goes back to the queue with its channel.
    if (stopping.signal.aborted) return;
    const work = receive(channel, message).finally(() => running.delete(work));
    running.add(work);
  };

  const receive = async (channel: BrokerChannel, message: BrokerMessage): Promise<void> => {
    let decoded: DecodedMessage;
    try {
      decoded = decodeMessage(message);
    } catch (error) {
      log.warn({ queue, reason: messageOf(error) }, 'Message dead-lettered: it cannot be read.');
      return settle(channel, message, 'dead-letter');
    }
    // A queue outlives its subscribers, and with it what an earlier version of them asked for.
    if (!matches(decoded.topic)) return settle(channel, message, 'ack');
    const judgement = await judge(decoded, message.redelivered);
    if (judgement.verdict !== 'requeue') return settle(channel, message, judgement.verdict);
    try {
      await publisher.requeue(queue, decoded.envelope, judgement.note);
      settle(channel, message, 'ack');
    } catch (error) {
      log.warn({ queue, reason: messageOf(error) }, 'A message could not be put behind the others.');
      settle(channel, message, 'retry');
    }
  };

  const settle = (channel: BrokerChannel, { deliveryTag }: BrokerMessage, verdict: Verdict): void => {
    // The message comes again on the next channel, where the verdict is remembered.
    if (!channel.active) return;
    if (verdict === 'ack') channel.basicAck({ deliveryTag });
    else channel.basicNack({ deliveryTag, requeue: verdict === 'retry' });
  };

  const leave = async (): Promise<void> => {
    const { channel, consumerTag } = serving ?? {};
    // A connection that breaks now has the same effect.
    const quietly = async (step: Promise<unknown> | undefined): Promise<void> => {
      await Promise.allSettled([step]);
    };
    if (channel?.active === true && consumerTag !== undefined) await quietly(channel.basicCancel({ consumerTag }));
    await Promise.allSettled(running);
    if (perProcess && channel?.active === true) await quietly(channel.queueDelete({ queue }));
    await quietly(channel?.close());
  };

  const onExpiry = (): GantryError => unreachable(link, waitMs);
  using deadline = startDeadline(clock, waitMs, { signal: stopping.signal, onExpiry, keepsAlive: true });
  try {
    await startAtLast(deadline.signal);
  } catch (error) {
    stopping.abort(error);
    throw error;
  }
  return {
    topic: pattern,
    subscriptionName,
    get isActive() {
      return !stopping.signal.aborted;
    },
    [Symbol.asyncDispose]: () => {
      stopping.abort();
      return (leaving ??= leave());
    },
  };
};
