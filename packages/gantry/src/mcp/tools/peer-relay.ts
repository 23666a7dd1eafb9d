import type { Bus, MessageHandler, Subscription } from '../../bus/bus.ts';
import type { Envelope } from '../../bus/envelope.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { messageHeaders } from '../../bus/headers.ts';
import { topics } from '../../bus/topics.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { OnAsked } from '../../tool/context.ts';
import type { PeerRequest, PeerResponse } from '../wire/peer-messages.ts';
import { peerMessageTypes, readPeerRequest } from '../wire/peer-messages.ts';

/** Hands the questions of servers to those who made the calls in which they are asked, and their answers back. */
export interface PeerRelay extends AsyncDisposable {
  /**
   * Listens to the questions of one call until the returned function is called, which takes back those that are open. Ready when the
   * promise resolves.
   */
  listen(callId: string, onAsked: OnAsked): Promise<() => void>;
}

interface Listener {
  readonly onAsked: OnAsked;
  readonly ending: AbortController;
}

/** Makes a relay. It subscribes at the first call whose caller can be asked; a failed attempt is repeated by the next. */
export const createPeerRelay = (options: {
  readonly bus: Bus;
  readonly agent: string;
  readonly log: Log;
}): PeerRelay => {
  const { bus, agent, log } = options;
  const listeners = new Map<string, Listener>();
  let subscription: Promise<Subscription> | undefined;

  const answer = async (envelope: Envelope, { method, params }: PeerRequest, listener: Listener): Promise<void> => {
    const { signal } = listener.ending;
    let body: PeerResponse;
    try {
      body = { result: await listener.onAsked({ method, params }, signal) };
    } catch (error) {
      body = { error: { message: messageOf(error) } };
    }
    // The bridge gave up with the call.
    if (signal.aborted) return;
    try {
      const { correlationId, replyTo = topics.mcpPeerResponse } = envelope;
      const { response: messageType } = peerMessageTypes;
      const headers = { [messageHeaders.contentTrust]: 'user-input' };
      await bus.publish(replyTo, createEnvelope({ messageType, source: agent, body, correlationId, headers }));
    } catch (error) {
      log.warn({ method, reason: messageOf(error) }, 'the answer of an MCP client could not be told to the bridge');
    }
  };

  const relay: MessageHandler = async (envelope) => {
    const request = envelope.messageType === peerMessageTypes.request ? readPeerRequest(envelope.body) : undefined;
    const listener = request && listeners.get(request.callId);
    // Of calls that others made, or that have ended, nobody here can be asked. Whoever can may take long.
    if (listener) void answer(envelope, request, listener);
    return 'ack';
  };

  const subscribe = async (): Promise<void> => {
    const attempt = (subscription ??= bus.subscribe(topics.mcpPeerRequest, `${agent}.mcp-peer-request`, relay, {
      // Only the process that made the call has its client.
      perProcess: true,
    }));
    try {
      await attempt;
    } catch (error) {
      if (subscription === attempt) subscription = undefined;
      throw error;
    }
  };

  const end = (listener: Listener): void =>
    listener.ending.abort(new GantryError('cancelled', 'The call in which this was asked is over.'));

  return {
    listen: async (callId, onAsked) => {
      await subscribe();
      const listener: Listener = { onAsked, ending: new AbortController() };
      listeners.set(callId, listener);
      return () => {
        listeners.delete(callId);
        end(listener);
      };
    },
    [Symbol.asyncDispose]: async () => {
      for (const listener of listeners.values()) end(listener);
      listeners.clear();
      const [settled] = await Promise.allSettled([subscription]);
      if (settled.status === 'fulfilled') await settled.value?.[Symbol.asyncDispose]();
    },
  };
};
