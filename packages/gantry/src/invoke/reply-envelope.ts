import { createEnvelope } from '../bus/envelope.ts';
import type { Envelope } from '../bus/envelope.ts';
import { messageHeaders } from '../bus/headers.ts';
import type { Log } from '../kernel/log.ts';
import type { ToolInvokeRequest } from '../tool/messages.ts';
import { toReply } from '../tool/messages.ts';
import type { Outcome } from '../tool/outcome.ts';
import { toFailure } from './to-failure.ts';

/** The reply to a call that came over the bus. An outcome that cannot be said becomes a tool error, so that nobody waits for nothing. */
export const toReplyEnvelope = (
  outcome: Outcome,
  request: ToolInvokeRequest,
  options: { readonly correlationId: string | undefined; readonly source: string; readonly log: Log },
): Envelope => {
  const { correlationId, source, log } = options;
  const say = (ended: Outcome): Envelope => {
    const { type, body } = toReply(ended, { id: request.toolCallId, name: request.toolName });
    const headers = { [messageHeaders.contentTrust]: 'tool-output' };
    return createEnvelope({ messageType: type, source, body, correlationId, headers });
  };
  try {
    return say(outcome);
  } catch (error) {
    log.error({ tool: request.toolName, err: error }, 'the result of a call could not be said');
    return say({ status: 'failed', failure: toFailure(error) });
  }
};
