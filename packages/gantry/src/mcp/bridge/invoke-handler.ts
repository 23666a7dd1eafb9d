import type { Bus, MessageHandler, Subscription } from '../../bus/bus.ts';
import type { Envelope } from '../../bus/envelope.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { messageHeaders } from '../../bus/headers.ts';
import { topics } from '../../bus/topics.ts';
import { fromContextHeaders } from '../../invoke/context-headers.ts';
import { toReplyEnvelope } from '../../invoke/reply-envelope.ts';
import { toFailure } from '../../invoke/to-failure.ts';
import { messageOf } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { Progress } from '../../tool/context.ts';
import type { ToolInvokeRequest } from '../../tool/messages.ts';
import { toolMessageTypes } from '../../tool/messages.ts';
import type { PeerAsker } from './call/ask-peer.ts';
import type { CallBudget } from './call/call-budget.ts';
import type { BridgeCall } from './call/call-tool.ts';
import type { Outcome } from '../../tool/outcome.ts';

/** Serves calls to servers' tools. Disposing ends the service: new calls are not taken, and those that run get `drainTimeoutMs`. */
export interface InvokeHandlerOptions {
  readonly bus: Bus;
  readonly agent: string;
  readonly log: Log;
  readonly callTool: (call: BridgeCall) => Promise<Outcome>;
  /** Asks whoever made a call. */
  readonly askPeer: PeerAsker['of'];
  /** Resolves when running calls have had their time. */
  readonly patience: () => Promise<void>;
}

/** Takes calls from `tool.invoke.mcp` and answers each exactly once; `tool.cancel` ends a call by its correlation id. */
export const serveInvoke = async (options: InvokeHandlerOptions): Promise<AsyncDisposable> => {
  const { bus, agent, log, callTool, askPeer } = options;
  const byCorrelation = new Map<string, CallBudget>();
  const running = new Map<CallBudget, Promise<void>>();

  const reportProgress = ({ correlationId }: Envelope, progress: Progress): void => {
    const { progress: messageType } = toolMessageTypes;
    const headers = { [messageHeaders.contentTrust]: 'tool-output' };
    bus
      .publish(
        topics.toolProgressOf(agent),
        createEnvelope({ messageType, source: agent, body: progress, correlationId, headers }),
      )
      .catch((error: unknown) => log.debug({ reason: messageOf(error) }, 'progress of a call could not be published'));
  };

  const settle = async (call: BridgeCall): Promise<Outcome> => {
    try {
      return await callTool(call);
    } catch (error) {
      log.error({ tool: call.request.toolName, err: error }, 'a call to a server failed unexpectedly');
      return { status: 'failed', failure: toFailure(error) };
    }
  };

  const invoke: MessageHandler = async (envelope) => {
    if (envelope.destination !== undefined && envelope.destination !== agent) return 'ack';
    const request = requestOf(envelope);
    if (!request) return 'dead-letter';
    const { correlationId } = envelope;
    const over = Promise.withResolvers<void>();
    let budget: CallBudget | undefined;
    try {
      const outcome = await settle({
        request,
        serverName: envelope.headers[messageHeaders.mcpServer],
        context: fromContextHeaders(envelope.headers),
        onProgress: (progress) => reportProgress(envelope, progress),
        ask: correlationId === undefined ? undefined : askPeer(correlationId),
        onStart: (started) => {
          budget = started;
          running.set(started, over.promise);
          if (correlationId !== undefined) byCorrelation.set(correlationId, started);
        },
      });
      await bus.publish(
        envelope.replyTo ?? topics.toolResultOf(agent),
        toReplyEnvelope(outcome, request, { correlationId, source: agent, log }),
      );
    } finally {
      if (budget) running.delete(budget);
      if (correlationId !== undefined) byCorrelation.delete(correlationId);
      over.resolve();
    }
    return 'ack';
  };

  const cancel: MessageHandler = async (envelope) => {
    byCorrelation.get(envelope.correlationId ?? '')?.end('cancelled');
    return 'ack';
  };

  const calls = await bus.subscribe(topics.mcpInvoke, `${agent}.mcp-invoke`, invoke, { concurrency: Infinity });
  const cancels = await bus.subscribe(topics.toolCancel, `${agent}.mcp-invoke-cancel`, cancel);

  return {
    [Symbol.asyncDispose]: async () => {
      // Ends when the last handler has, so it may only be waited for after those have been told to end.
      const drained: Promise<void>[] = [calls, cancels].map((subscription: Subscription) =>
        Promise.resolve(subscription[Symbol.asyncDispose]()),
      );
      if (running.size > 0) await Promise.race([Promise.all(running.values()), options.patience()]);
      for (const budget of running.keys()) budget.end('stopped');
      await Promise.all(drained);
    },
  };
};

const requestOf = (envelope: Envelope): ToolInvokeRequest | undefined => {
  const { body } = envelope;
  const fits = isObject(body) && typeof body['toolCallId'] === 'string' && typeof body['toolName'] === 'string';
  return fits ? (body as unknown as ToolInvokeRequest) : undefined;
};
