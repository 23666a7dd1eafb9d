import { messageOf } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import type { MessageHandler, Subscription } from './bus.ts';
import type { Envelope } from './envelope.ts';

// One delivery and three redeliveries.
const mostAttempts = 4;
const nextMicrotask = Promise.resolve();

/** A message on its way through one queue; queued deliveries form a chain. */
interface Delivery {
  readonly topic: string;
  readonly envelope: Envelope;
  attempts: number;
  next: Delivery | undefined;
}

interface Member {
  readonly handler: MessageHandler;
  readonly concurrency: number;
  active: number;
  leaving: PromiseWithResolvers<void> | undefined;
}

/** The queue of one subscription name, and the subscribers that compete for its messages. */
export interface SubscriptionQueue {
  readonly pattern: string;
  /** Gives the message to a subscriber with a free slot, else keeps it until there is one. */
  offer(topic: string, envelope: Envelope): void;
  /** Adds a subscriber. */
  join(handler: MessageHandler, concurrency: number): Subscription;
}

/** Makes the queue of a subscription name. `onEmpty` tells that the last subscriber has left; what waited is dropped. */
export const createSubscriptionQueue = (
  pattern: string,
  subscriptionName: string,
  options: { log: Log; onEmpty: () => void },
): SubscriptionQueue => {
  const { log } = options;
  const members: Member[] = [];
  let head: Delivery | undefined;
  let tail: Delivery | undefined;
  let turn = 0;

  const freeMember = (): Member | undefined => {
    for (let tried = 0; tried < members.length; tried += 1) {
      turn = turn + 1 < members.length ? turn + 1 : 0;
      const member = members[turn] as Member;
      if (member.active < member.concurrency) return member;
    }
    return undefined;
  };

  const append = (delivery: Delivery): void => {
    if (tail === undefined) head = tail = delivery;
    else tail = tail.next = delivery;
    pump();
  };

  const prepend = (delivery: Delivery): void => {
    delivery.next = head;
    head = delivery;
    tail ??= delivery;
    pump();
  };

  // Keeps it true that a message waits only while every subscriber is busy.
  const pump = (): void => {
    for (let member = head && freeMember(); member !== undefined; member = head && freeMember())
      void run(member, dequeue() as Delivery);
  };

  const dequeue = (): Delivery | undefined => {
    const delivery = head;
    head = delivery?.next;
    if (head === undefined) tail = undefined;
    if (delivery !== undefined) delivery.next = undefined;
    return delivery;
  };

  // Serves deliveries one after another for as long as the member stays and something waits.
  const run = async (member: Member, first: Delivery): Promise<void> => {
    member.active += 1;
    // The publisher goes on before any handler starts, and handlers that answer each other cannot exhaust the stack.
    await nextMicrotask;
    let delivery: Delivery | undefined = first;
    while (delivery !== undefined && member.leaving === undefined) {
      await handle(member, delivery);
      delivery = member.leaving === undefined ? dequeue() : undefined;
    }
    member.active -= 1;
    if (member.leaving === undefined) return;
    // The member left before it had begun this one: others of the same name may take it.
    if (delivery !== undefined && members.length > 0) prepend(delivery);
    if (member.active === 0) member.leaving.resolve();
  };

  const handle = async (member: Member, delivery: Delivery): Promise<void> => {
    const { envelope, topic } = delivery;
    delivery.attempts += 1;
    try {
      const verdict = await member.handler(envelope, topic);
      if (verdict === 'ack') return;
      if (verdict === 'retry' && delivery.attempts < mostAttempts) {
        if (members.length > 0) append(delivery);
        return;
      }
      const facts = { topic, subscriptionName, messageType: envelope.messageType, messageId: envelope.messageId };
      if (verdict === 'retry') log.error(facts, `Message dropped after ${mostAttempts} attempts.`);
      else log.warn(facts, 'Message dead-lettered by its handler.');
    } catch (error) {
      log.error(
        { topic, subscriptionName, messageType: envelope.messageType, messageId: envelope.messageId, err: error },
        `Message dropped: its handler failed with "${messageOf(error)}".`,
      );
    }
  };

  const leave = (member: Member): Promise<void> => {
    if (member.leaving !== undefined) return member.leaving.promise;
    member.leaving = Promise.withResolvers<void>();
    members.splice(members.indexOf(member), 1);
    if (members.length === 0) {
      if (head !== undefined)
        log.warn({ topic: pattern, subscriptionName }, 'Subscription ended while messages waited.');
      head = tail = undefined;
      options.onEmpty();
    }
    if (member.active === 0) member.leaving.resolve();
    return member.leaving.promise;
  };

  return {
    pattern,
    offer: (topic, envelope) => append({ topic, envelope, attempts: 0, next: undefined }),
    join: (handler, concurrency) => {
      const member: Member = { handler, concurrency, active: 0, leaving: undefined };
      members.push(member);
      pump();
      return {
        topic: pattern,
        subscriptionName,
        get isActive() {
          return member.leaving === undefined;
        },
        [Symbol.asyncDispose]: () => leave(member),
      };
    },
  };
};
