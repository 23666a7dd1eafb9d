import type { Bus } from '../../bus/bus.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import type { Envelope } from '../../bus/envelope.ts';
import { messageHeaders } from '../../bus/headers.ts';
import { createRequester } from '../../bus/requester.ts';
import { topics } from '../../bus/topics.ts';
import { toContextHeaders } from '../../invoke/context-headers.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { CallContext } from '../../tool/context.ts';
import type { PreparedCall, ToolExecutor } from '../../tool/executor.ts';
import type { ToolInvokeRequest, ToolReply } from '../../tool/messages.ts';
import { fromReply, toolMessageTypes } from '../../tool/messages.ts';
import type { Outcome } from '../../tool/outcome.ts';
import { createPeerRelay } from './peer-relay.ts';
import { createProgressRelay } from './progress-relay.ts';

/** How calls of servers' tools travel. */
export interface ToolProxyOptions {
  readonly bus: Bus;
  readonly agent: string;
  readonly log: Log;
  readonly clock: Clock;
  /** The server's budget for a call whose caller names none. Default 60,000 ms. */
  readonly requestTimeoutMs?: number | undefined;
  /**
   * How long to wait for the bridge, which also waits for people who answer a server's questions. Never shorter than the
   * usual budget of a call, and without effect on a call whose caller names a time. Default 930,000 ms.
   */
  readonly responseWaitMs?: number | undefined;
}

/** Runs the tools of MCP servers by asking the bridge over the bus. */
export interface ToolProxy extends AsyncDisposable {
  /**
   * Runs a typed tool by its `target`. It keeps the time itself: throws `timeout` when the bridge does not answer, and the
   * signal's reason, after telling the bridge, when the caller gives up.
   */
  readonly executor: ToolExecutor;
}

/** Makes the proxy; it subscribes to replies at the first call. */
export const createToolProxy = (options: ToolProxyOptions): ToolProxy => {
  const { bus, agent, log, clock, requestTimeoutMs = 60_000, responseWaitMs = 930_000 } = options;
  const progress = createProgressRelay({ bus, agent });
  const peers = createPeerRelay({ bus, agent, log });
  const requester = createRequester({
    bus,
    replyTopic: topics.toolResultOf(agent),
    subscriptionName: `${agent}.mcp-tool-result`,
    source: agent,
    log,
    clock,
  });

  let hasWarned = false;
  const waitFor = (budgetMs: number): number => {
    if (responseWaitMs >= budgetMs) return responseWaitMs;
    if (!hasWarned)
      log.warn(
        { responseWaitMs, budgetMs },
        'the wait for tool results is shorter than the budget of a call; the budget is used',
      );
    hasWarned = true;
    return budgetMs;
  };

  const cancel = async (correlationId: string): Promise<void> => {
    try {
      const { cancel: messageType } = toolMessageTypes;
      await bus.publish(topics.toolCancel, createEnvelope({ messageType, source: agent, correlationId, body: {} }));
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'the end of a call could not be told to the MCP bridge');
    }
  };

  const request = async (
    call: PreparedCall,
    target: { readonly server: string; readonly tool: string },
    context: CallContext,
    correlationId: string,
  ): Promise<Outcome> => {
    const budgetMs = context.timeoutMs ?? requestTimeoutMs;
    // Progress may prolong the usual budget of a call, and never the time that its caller gives it.
    const timeoutMs = context.timeoutMs ?? waitFor(requestTimeoutMs);
    const body: ToolInvokeRequest = {
      toolCallId: call.id,
      toolName: target.tool,
      arguments: call.arguments,
      sessionId: context.namespace,
    };
    try {
      const reply = await requester.request(topics.mcpInvoke, {
        messageType: toolMessageTypes.request,
        body,
        headers: {
          ...toContextHeaders({ ...context, timeoutMs: budgetMs }),
          [messageHeaders.mcpServer]: target.server,
          [messageHeaders.toolProvider]: 'mcp',
          [messageHeaders.contentTrust]: 'tool-request',
        },
        timeoutMs,
        signal: context.signal,
        correlationId,
        onTimeout: () => noAnswer(target.tool, target.server, timeoutMs),
      });
      return fromReply(replyOf(reply, target.server));
    } catch (error) {
      if (context.signal?.aborted || (GantryError.is(error) && error.code === 'timeout')) await cancel(correlationId);
      throw error;
    }
  };

  const execute = async (call: PreparedCall, context: CallContext): Promise<Outcome> => {
    const { target } = call.registration;
    if (!target)
      throw new GantryError('execution_failed', `Tool "${call.name}" names no MCP server and tool to run.`, {
        details: { tool: call.name },
      });
    const correlationId = newId();
    const { onProgress, onAsked } = context;
    using listening = new DisposableStack();
    if (onProgress) listening.defer(await progress.listen(correlationId, onProgress));
    // A bridge that is told somebody can be asked waits for an answer.
    const asks = onAsked && context.asks;
    if (onAsked && asks) listening.defer(await peers.listen(correlationId, onAsked));
    return await request(call, target, { ...context, asks }, correlationId);
  };

  return {
    executor: { execute, timeoutMs: 0 },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([requester, progress, peers].map((part) => part[Symbol.asyncDispose]()));
    },
  };
};

const replyOf = ({ messageType, body }: Envelope, server: string): ToolReply => {
  if (messageType === toolMessageTypes.response || messageType === toolMessageTypes.error)
    return { type: messageType, body } as ToolReply;
  throw new GantryError(
    'execution_failed',
    `The MCP bridge answered the call to server "${server}" with an unknown message "${messageType}".`,
    { details: { server } },
  );
};

const noAnswer = (name: string, server: string, timeoutMs: number): GantryError =>
  new GantryError('timeout', `Tool "${name}" of server "${server}" gave no result within ${timeoutMs} ms.`, {
    details: { server, timeoutMs },
  });
