import { messageOf } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import type { MessageHandler, Verdict } from './bus.ts';
import type { Envelope } from './envelope.ts';

/** Reads the body of one message type and handles it. */
export type MessageRoute = (envelope: Envelope, topic: string) => () => Promise<Verdict>;

/** A route that reads the body with `parse`, which throws on what it cannot read, before `handle` sees it. */
export const defineRoute =
  <T>(
    parse: (body: unknown) => T,
    handle: (body: T, envelope: Envelope, topic: string) => Promise<Verdict>,
  ): MessageRoute =>
  (envelope, topic) => {
    const body = parse(envelope.body);
    return () => handle(body, envelope, topic);
  };

/** A handler that chooses the route by message type. A type without a route and a body that cannot be read are dead letters. */
export const dispatchByType =
  (routes: Readonly<Record<string, MessageRoute>>, options: { log: Log }): MessageHandler =>
  async (envelope, topic) => {
    const { messageType, messageId } = envelope;
    const facts = { topic, messageType, messageId };
    const route = Object.hasOwn(routes, messageType) ? routes[messageType] : undefined;
    if (route === undefined) {
      options.log.warn(facts, `No route for messages of type "${messageType}".`);
      return 'dead-letter';
    }
    let handle: () => Promise<Verdict>;
    try {
      handle = route(envelope, topic);
    } catch (error) {
      options.log.warn({ ...facts, err: error }, `Message of type "${messageType}" unreadable: ${messageOf(error)}`);
      return 'dead-letter';
    }
    return handle();
  };
