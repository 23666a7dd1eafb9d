import type { Bus, MessageHandler, Subscription } from '../bus/bus.ts';
import type { Envelope } from '../bus/envelope.ts';
import { createEnvelope } from '../bus/envelope.ts';
import { messageHeaders } from '../bus/headers.ts';
import { topics } from '../bus/topics.ts';
import { GantryError, messageOf } from '../kernel/errors.ts';
import { isObject } from '../kernel/json.ts';
import type { Log } from '../kernel/log.ts';
import type { Progress } from '../tool/context.ts';
import type { ToolInvokeRequest } from '../tool/messages.ts';
import { toolMessageTypes } from '../tool/messages.ts';
import type { Outcome } from '../tool/outcome.ts';
import { fromContextHeaders } from './context-headers.ts';
import type { Invoker } from './invoker.ts';
import { toReplyEnvelope } from './reply-envelope.ts';
import { toFailure } from './to-failure.ts';

/** How the handler of `tool.invoke` answers. */
export interface BusHandlerOptions {
  readonly bus: Bus;
  readonly invoker: Pick<Invoker, 'invoke'>;
  readonly agent: string;
  readonly log: Log;
  /** Aborts when the process stops; calls that it ends are not answered, so that another process may take them. */
  readonly stopping: AbortSignal;
  /** Where replies go when the request names no topic. Default `tool.result`. */
  readonly defaultResultTopic?: string | undefined;
}

/** Serves calls from the bus through the invoker: exactly one reply per request. Cancelled by `tool.cancel`. */
export const serveToolInvoke = async (options: BusHandlerOptions): Promise<AsyncDisposable> => {
  const { bus, invoker, agent, log, stopping, defaultResultTopic = topics.toolResult } = options;
  const running = new Map<string, AbortController>();

  const invoke: MessageHandler = async (envelope) => {
    const request = requestOf(envelope);
    if (!request) return 'dead-letter';
    const controller = new AbortController();
    // By hand, since what AbortSignal.any makes outlives its call by far.
    const stop = (): void => controller.abort(stopping.reason);
    if (stopping.aborted) stop();
    else stopping.addEventListener('abort', stop, { once: true });
    const { correlationId } = envelope;
    if (correlationId !== undefined) running.set(correlationId, controller);
    const call = { id: request.toolCallId, name: request.toolName, arguments: request.arguments };
    let outcome: Outcome;
    try {
      outcome = await invoker.invoke(call, {
        ...fromContextHeaders(envelope.headers),
        signal: controller.signal,
        onProgress: (progress) => reportProgress(envelope, progress),
      });
    } catch (error) {
      if (GantryError.is(error) && error.code === 'stopped') {
        log.info({ tool: request.toolName }, 'a call was left unanswered because the process stops');
        return 'ack';
      }
      log.error({ tool: request.toolName, err: error }, 'a call over the bus failed unexpectedly');
      outcome = { status: 'failed', failure: toFailure(error) };
    } finally {
      stopping.removeEventListener('abort', stop);
      if (correlationId !== undefined) running.delete(correlationId);
    }
    await bus.publish(
      envelope.replyTo ?? defaultResultTopic,
      toReplyEnvelope(outcome, request, { correlationId, source: agent, log }),
    );
    return 'ack';
  };

  const cancel: MessageHandler = async (envelope) => {
    const reason = new GantryError('cancelled', 'The call was cancelled by its caller.');
    running.get(envelope.correlationId ?? '')?.abort(reason);
    return 'ack';
  };

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

  const subscriptions: Subscription[] = [
    await bus.subscribe(topics.toolInvoke, `${agent}.tool-invoke`, invoke, { concurrency: Infinity }),
    await bus.subscribe(topics.toolCancel, `${agent}.tool-invoke-cancel`, cancel),
  ];
  return {
    [Symbol.asyncDispose]: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription[Symbol.asyncDispose]()));
    },
  };
};

const requestOf = (envelope: Envelope): ToolInvokeRequest | undefined => {
  const { body } = envelope;
  const fits = isObject(body) && typeof body['toolCallId'] === 'string' && typeof body['toolName'] === 'string';
  return fits ? (body as unknown as ToolInvokeRequest) : undefined;
};
