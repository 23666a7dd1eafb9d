import { GantryError } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import type { Bus, Subscription } from './bus.ts';
import { createSubscriptionQueue, type SubscriptionQueue } from './subscription-queue.ts';
import { parseTopicPattern } from './topic-pattern.ts';

/**
 * The bus of one process. Subscribers receive the very envelope that was published: nothing is encoded or copied, and the
 * handler starts one microtask after `publish` when it has a free slot. Queues are unbounded and end with their subscribers.
 */
export const createInProcessBus = (options: { log: Log }): Bus => {
  const { log } = options;
  const byName = new Map<string, SubscriptionQueue>();
  const byTopic = new Map<string, SubscriptionQueue[]>();
  const byPattern = new Map<SubscriptionQueue, (topic: string) => boolean>();
  const subscriptions = new Set<Subscription>();
  const published = Promise.resolve();
  let closing: Promise<void> | undefined;
  let isClosed = false;

  const addQueue = (pattern: string, name: string): SubscriptionQueue => {
    const queue = createSubscriptionQueue(pattern, name, { log, onEmpty: () => removeQueue(queue, name) });
    byName.set(name, queue);
    const { isExact, matches } = parseTopicPattern(pattern);
    if (isExact) byTopic.set(pattern, [...(byTopic.get(pattern) ?? []), queue]);
    else byPattern.set(queue, matches);
    return queue;
  };

  const removeQueue = (queue: SubscriptionQueue, name: string): void => {
    byName.delete(name);
    byPattern.delete(queue);
    const others = byTopic.get(queue.pattern)?.filter((other) => other !== queue) ?? [];
    if (others.length > 0) byTopic.set(queue.pattern, others);
    else byTopic.delete(queue.pattern);
  };

  const close = async (): Promise<void> => {
    await Promise.all(Array.from(subscriptions, (subscription) => subscription[Symbol.asyncDispose]()));
    isClosed = true;
  };

  return {
    publish: (topic, envelope) => {
      if (isClosed) return Promise.reject(stopped());
      const exact = byTopic.get(topic);
      if (exact !== undefined) for (const queue of exact) queue.offer(topic, envelope);
      if (byPattern.size > 0)
        for (const [queue, matches] of byPattern) if (matches(topic)) queue.offer(topic, envelope);
      return published;
    },
    subscribe: async (pattern, subscriptionName, handler, { concurrency = 1 } = {}) => {
      if (closing !== undefined) throw stopped();
      const queue = byName.get(subscriptionName) ?? addQueue(pattern, subscriptionName);
      if (queue.pattern !== pattern)
        throw new GantryError(
          'subscription_conflict',
          `Subscription "${subscriptionName}" receives "${queue.pattern}" and cannot receive "${pattern}" too; use another name.`,
          { details: { subscriptionName, pattern: queue.pattern, wanted: pattern } },
        );
      const member = queue.join(handler, concurrency);
      const subscription: Subscription = {
        topic: member.topic,
        subscriptionName,
        get isActive() {
          return member.isActive;
        },
        [Symbol.asyncDispose]: async () => {
          await member[Symbol.asyncDispose]();
          subscriptions.delete(subscription);
        },
      };
      subscriptions.add(subscription);
      return subscription;
    },
    // Handlers that still run may publish until the last of them has ended.
    [Symbol.asyncDispose]: () => (closing ??= close()),
  };
};

const stopped = (): GantryError => new GantryError('stopped', 'The bus has stopped and takes no more messages.');
