import { abortReason, delay, orAborted, startDeadline } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { Envelope } from '../envelope.ts';
import { isRefusal, refused, stopped, unreachable } from './broker-fault.ts';
import type { BrokerChannel, BrokerLink } from './broker-link.ts';
import { encodeMessage, type MessageNote } from './message-codec.ts';
import type { Topology } from './topology.ts';

/** Hands messages to the broker, in the order of the calls. Disposing gives up those that wait, and refuses further ones. */
export interface Publisher extends AsyncDisposable {
  /**
   * Publishes to a topic; resolves when the broker has the message.
   * @throws {GantryError} `bus_unreachable` when it did not get there in time, `message_invalid`, `execution_failed` when the broker
   * refuses it, `stopped`.
   */
  publish(topic: string, envelope: Envelope): Promise<void>;
  /** Puts a message to the end of a queue. */
  requeue(queue: string, envelope: Envelope, note: MessageNote): Promise<void>;
}

/** What a publisher works with. */
export interface PublisherOptions {
  readonly link: BrokerLink;
  readonly topology: Topology;
  readonly maxBytes: number;
  /** How long a message waits for a broker that is away. */
  readonly waitMs: number;
  readonly clock: Clock;
}

const longestTopic = 255;
const breathMs = 100;

/**
 * Makes a publisher with a channel of its own and publisher confirms. A message whose confirmation was lost with the connection is sent
 * again and marked, since nobody can know whether the broker had it.
 */
export const createPublisher = ({ link, topology, maxBytes, waitMs, clock }: PublisherOptions): Publisher => {
  const stopping = new AbortController();
  let opening: Promise<BrokerChannel> | undefined;
  let current: BrokerChannel | undefined;

  const open = async (): Promise<BrokerChannel> => {
    const channel = await link.openChannel();
    await topology.declareExchange(channel);
    await channel.confirmSelect();
    channel.on('close', forget);
    current = channel;
    if (stopping.signal.aborted) await channel.close();
    return channel;
  };
  const forget = (): void => {
    opening = undefined;
    current = undefined;
  };
  const channelNow = (): Promise<BrokerChannel> => {
    if (opening === undefined) {
      opening = open();
      opening.catch(forget);
    }
    return opening;
  };

  const send = async (exchange: string, key: string, envelope: Envelope, note: MessageNote = {}): Promise<void> => {
    if (stopping.signal.aborted) throw stopped();
    if (Buffer.byteLength(key) > longestTopic)
      throw new GantryError('message_invalid', `A topic has at most ${longestTopic} bytes; shorten "${key}".`);
    let message = encodeMessage(envelope, { maxBytes, note });
    const onExpiry = (): GantryError => unreachable(link, waitMs);
    using deadline = startDeadline(clock, waitMs, { signal: stopping.signal, onExpiry, keepsAlive: true });
    const { signal } = deadline;
    for (;;) {
      let isUnderWay = false;
      try {
        const channel = await orAborted(channelNow(), signal);
        isUnderWay = true;
        const { properties, body } = message;
        await orAborted(channel.basicPublish({ ...properties, exchange, routingKey: key }, body), signal);
        return;
      } catch (error) {
        if (signal.aborted) throw abortReason(signal);
        if (isRefusal(error)) throw refused(link, `a message for "${key}"`, error);
        if (isUnderWay) message = encodeMessage(envelope, { maxBytes, note: { ...note, isResent: true } });
        await delay(clock, breathMs, signal);
      }
    }
  };

  return {
    publish: (topic, envelope) => send(topology.exchange, topic, envelope),
    // The exchange without a name leads to the queue that the key names.
    requeue: (queue, envelope, note) => send('', queue, envelope, note),
    [Symbol.asyncDispose]: async () => {
      stopping.abort(stopped());
      // One that is being opened closes itself, and is not waited for: that could take as long as a broker is away.
      await current?.close();
    },
  };
};
