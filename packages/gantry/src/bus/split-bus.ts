import type { Bus, Subscription } from './bus.ts';

/** What a {@link createSplitBus} is made of; it owns both buses. */
export interface SplitBusOptions {
  /** Carries everything else inside this process. */
  readonly local: Bus;
  /** Carries between processes. */
  readonly shared: Bus;
  /** First segments of the topics that are shared. */
  readonly families: ReadonlySet<string>;
}

/**
 * A bus that shares some families of topics with other processes and keeps the rest to itself: what belongs together in one process, such
 * as a gateway and its connections to servers, neither needs a broker nor can be taken by another process. A pattern that begins with
 * a wildcard is subscribed to on both.
 */
export const createSplitBus = ({ local, shared, families }: SplitBusOptions): Bus => {
  const isShared = (topic: string): boolean => families.has(topic.split('.', 1)[0] as string);
  return {
    publish: (topic, envelope) => (isShared(topic) ? shared : local).publish(topic, envelope),
    subscribe: async (pattern, name, handler, options) => {
      if (!/^[*#](?:\.|$)/.test(pattern))
        return (isShared(pattern) ? shared : local).subscribe(pattern, name, handler, options);
      const near = await local.subscribe(pattern, name, handler, options);
      try {
        return both(near, await shared.subscribe(pattern, name, handler, options));
      } catch (error) {
        await near[Symbol.asyncDispose]();
        throw error;
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([local[Symbol.asyncDispose](), shared[Symbol.asyncDispose]()]);
    },
  };
};

const both = (near: Subscription, far: Subscription): Subscription => ({
  topic: near.topic,
  subscriptionName: near.subscriptionName,
  get isActive() {
    return near.isActive && far.isActive;
  },
  [Symbol.asyncDispose]: async () => {
    await Promise.all([near[Symbol.asyncDispose](), far[Symbol.asyncDispose]()]);
  },
});
