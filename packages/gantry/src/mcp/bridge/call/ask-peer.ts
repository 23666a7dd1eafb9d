import type { Bus } from '../../../bus/bus.ts';
import { messageHeaders } from '../../../bus/headers.ts';
import { createRequester } from '../../../bus/requester.ts';
import { topics } from '../../../bus/topics.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { Log } from '../../../kernel/log.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { OnAsked } from '../../../tool/context.ts';
import type { PeerRequest } from '../../wire/peer-messages.ts';
import { peerMessageTypes, readPeerResponse } from '../../wire/peer-messages.ts';

/** Asks whoever made a call, over the bus. Disposing rejects what still waits. */
export interface PeerAsker extends AsyncDisposable {
  /** Asks the caller of the call with that correlation id; throws `execution_failed` with what it answers as an error. */
  of(callId: string): OnAsked;
}

/** Makes the asker of a bridge. An answer is waited for as long as a call may take. */
export const createPeerAsker = (options: {
  readonly bus: Bus;
  readonly agent: string;
  readonly maxTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
}): PeerAsker => {
  const { bus, agent, maxTimeoutMs, clock, log } = options;
  const requester = createRequester({
    bus,
    replyTopic: topics.mcpPeerResponse,
    subscriptionName: `${agent}.mcp-peer-response`,
    source: agent,
    log,
    clock,
  });
  return {
    of:
      (callId) =>
      async ({ method, params }, signal) => {
        const body: PeerRequest = { callId, method, params };
        const reply = await requester.request(topics.mcpPeerRequest, {
          messageType: peerMessageTypes.request,
          body,
          headers: { [messageHeaders.contentTrust]: 'tool-output' },
          timeoutMs: maxTimeoutMs,
          signal,
        });
        const response = readPeerResponse(reply.body);
        if ('result' in response) return response.result;
        const reason = flattenText(response.error.message, { maxChars: 300 });
        throw new GantryError('execution_failed', `The client gave no answer to ${method}: ${reason}`, {
          details: { method },
        });
      },
    [Symbol.asyncDispose]: () => requester[Symbol.asyncDispose](),
  };
};
