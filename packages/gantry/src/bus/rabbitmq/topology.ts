import { GantryError } from '../../kernel/errors.ts';
import type { BrokerChannel } from './broker-link.ts';

/** A queue of the broker and what it receives. */
export interface QueuePlan {
  readonly queue: string;
  /** Topic pattern. */
  readonly pattern: string;
  /** Belongs to one process, and goes with it. */
  readonly perProcess: boolean;
}

/** What the bus keeps at the broker: names, and how they are declared. Declaring what is there already changes nothing. */
export interface Topology {
  /** The topic exchange that everything is published to. */
  readonly exchange: string;
  /** The queue of a subscription name. */
  queueOf(subscriptionName: string, options: { readonly perProcess: boolean }): string;
  declareExchange(channel: BrokerChannel): Promise<void>;
  declareQueue(channel: BrokerChannel, plan: QueuePlan): Promise<void>;
}

const day = 24 * 3600 * 1000;
// A queue of a process that is gone; long enough for a broker to be restarted.
const orphanMs = 120_000;
// A queue that nobody serves any more, such as that of a role that was given up.
const unservedMs = day;
const deadLetterMs = 7 * day;
const mostDeadLetters = 10_000;
const longestName = 255;

/**
 * Names and arguments at the broker: topic exchange `{prefix}`, queues `{prefix}.{name}`, for dead letters the exchange `{prefix}.dlx` and
 * queues `{prefix}.{name}.dlq`. A change of arguments needs other names, since a broker refuses to declare a queue in two ways.
 *
 * @param processId tells this process from others with the same subscription names.
 */
export const createTopology = (prefix: string, processId: string): Topology => {
  const deadLetters = `${prefix}.dlx`;
  return {
    exchange: prefix,
    queueOf: (subscriptionName, { perProcess }) => {
      const queue = `${prefix}.${subscriptionName}${perProcess ? `.${processId}` : ''}`;
      if (Buffer.byteLength(`${queue}.dlq`) <= longestName) return queue;
      throw new GantryError('message_invalid', `The subscription name "${subscriptionName}" is too long for a broker.`);
    },
    declareExchange: (channel) => channel.exchangeDeclare({ exchange: prefix, type: 'topic', durable: true }),
    declareQueue: async (channel, { queue, pattern, perProcess }) => {
      if (perProcess)
        // Durable, so that an answer given while the broker restarts is not lost; what is left behind expires.
        await channel.queueDeclare({ queue, durable: true, arguments: { 'x-expires': orphanMs } });
      else {
        const dead = `${queue}.dlq`;
        await channel.exchangeDeclare({ exchange: deadLetters, type: 'direct', durable: true });
        await channel.queueDeclare({
          queue: dead,
          durable: true,
          arguments: { 'x-message-ttl': deadLetterMs, 'x-max-length': mostDeadLetters },
        });
        await channel.queueBind({ queue: dead, exchange: deadLetters, routingKey: dead });
        await channel.queueDeclare({
          queue,
          durable: true,
          // No type is named, so that a cluster's operator can make quorum queues the default of the virtual host.
          arguments: {
            'x-expires': unservedMs,
            'x-dead-letter-exchange': deadLetters,
            'x-dead-letter-routing-key': dead,
          },
        });
      }
      await channel.queueBind({ queue, exchange: prefix, routingKey: pattern });
    },
  };
};
