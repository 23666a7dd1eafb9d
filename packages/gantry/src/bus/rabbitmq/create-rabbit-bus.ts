import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { Bus, Subscription } from '../bus.ts';
import { stopped } from './broker-fault.ts';
import { openBrokerLink } from './broker-link.ts';
import { createPublisher } from './publisher.ts';
import { consumeQueue } from './queue-consumer.ts';
import { createTopology } from './topology.ts';

/** How the bus over RabbitMQ is set up. */
export interface RabbitBusOptions {
  /** `amqp://user:password@host:port/vhost`, or `amqps://`. */
  readonly url: string;
  /** Begins the names of exchanges and queues; those who share a bus have the same. Default `gantry`. */
  readonly prefix?: string | undefined;
  /** Messages that a handler with unlimited concurrency has at once. Default 100. */
  readonly prefetch?: number | undefined;
  /** Largest body of a message. Default 16 MiB, the limit of RabbitMQ 4. */
  readonly maxMessageBytes?: number | undefined;
  /** How long publishing and subscribing wait for a broker that is away. Default 30 s. */
  readonly waitMs?: number | undefined;
  /** First and longest wait before another attempt to connect. Default 0.5 s and 10 s. */
  readonly retryMs?: { readonly first: number; readonly longest: number } | undefined;
  /** Who this is, for the broker's list of connections. */
  readonly agent: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The bus over RabbitMQ. */
export interface RabbitBus extends Bus {
  /** Where the broker is, without user and password. */
  readonly address: string;
  readonly isConnected: boolean;
  /** Why there is no connection, as far as it is known. */
  readonly problem: string | undefined;
}

/**
 * Makes a bus over a RabbitMQ broker, for processes that work together. It resolves before there is a connection; one that
 * is lost is made anew. Beyond what every bus guarantees:
 *
 * - `publish` resolves when the broker has the message on disk, and may wait for a broker that is away.
 * - A queue outlives its subscribers by a day, so messages wait for a process that restarts; each waits no longer than its
 *   `gantry-timeout-ms` says. A message whose process dies, or loses its connection, is given to another: a handler must bear that another
 *   process had it before. It then comes behind what waits already, as after a restart of the broker does all that was waiting.
 * - Dead letters are kept for a week in the queue `{prefix}.{name}.dlq`; those of queues of one process are not.
 * - Bodies are JSON and at most `maxMessageBytes` long; a conflict of patterns is found within one process only.
 *
 * @throws {GantryError} `package_missing`, `config_invalid`.
 */
export const createRabbitBus = async (options: RabbitBusOptions): Promise<RabbitBus> => {
  const { url, prefix = 'gantry', prefetch = 100, maxMessageBytes = 16 * 1024 * 1024, waitMs = 30_000 } = options;
  const { retryMs = { first: 500, longest: 10_000 }, agent, clock, log } = options;
  const link = await openBrokerLink({ url, name: `gantry ${agent}`, log, clock, waitMs, retryMs });
  const topology = createTopology(prefix, newId().slice(0, 12));
  const publisher = createPublisher({ link, topology, maxBytes: maxMessageBytes, waitMs, clock });
  const patterns = new Map<string, { readonly pattern: string; members: number }>();
  const subscriptions = new Set<Subscription>();
  let closing: Promise<void> | undefined;

  /** Takes a place under the name; gives what gives it back. */
  const join = (subscriptionName: string, pattern: string): (() => void) => {
    const known = patterns.get(subscriptionName) ?? { pattern, members: 0 };
    if (known.pattern !== pattern)
      throw new GantryError(
        'subscription_conflict',
        `Subscription "${subscriptionName}" receives "${known.pattern}" and cannot receive "${pattern}" too; use another name.`,
        { details: { subscriptionName, pattern: known.pattern, wanted: pattern } },
      );
    known.members += 1;
    patterns.set(subscriptionName, known);
    return () => {
      known.members -= 1;
      if (known.members === 0) patterns.delete(subscriptionName);
    };
  };

  const close = async (): Promise<void> => {
    await Promise.all(Array.from(subscriptions, (subscription) => subscription[Symbol.asyncDispose]()));
    await publisher[Symbol.asyncDispose]();
    await link[Symbol.asyncDispose]();
  };

  return {
    address: link.address,
    get isConnected() {
      return link.isConnected;
    },
    get problem() {
      return link.problem;
    },
    publish: publisher.publish,
    subscribe: async (pattern, subscriptionName, handler, { concurrency = 1, perProcess = false } = {}) => {
      if (closing !== undefined) throw stopped();
      const leave = join(subscriptionName, pattern);
      let subscription: Subscription;
      try {
        const plan = { queue: topology.queueOf(subscriptionName, { perProcess }), pattern, perProcess };
        const atOnce = concurrency === Infinity ? prefetch : concurrency;
        const served = { plan, subscriptionName, handler, atOnce, waitMs, retryMs };
        subscription = await consumeQueue({ link, topology, publisher, clock, log, ...served });
      } catch (error) {
        leave();
        throw error;
      }
      let ending: Promise<void> | undefined;
      const end = async (): Promise<void> => {
        await subscription[Symbol.asyncDispose]();
        subscriptions.delete(member);
        leave();
      };
      const member: Subscription = {
        topic: pattern,
        subscriptionName,
        get isActive() {
          return subscription.isActive;
        },
        [Symbol.asyncDispose]: () => (ending ??= end()),
      };
      subscriptions.add(member);
      return member;
    },
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
};
