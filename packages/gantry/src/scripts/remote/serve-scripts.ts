import type { Bus, MessageHandler, Subscription } from '../../bus/bus.ts';
import type { Envelope } from '../../bus/envelope.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { topics } from '../../bus/topics.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { ScriptResult, ScriptRunner } from '../runner.ts';
import type { ScriptInvokeRequest, ScriptInvokeResponse } from './script-messages.ts';
import { parseScriptRequest, scriptMessageTypes } from './script-messages.ts';

/** What a scripts manager works with. */
export interface ScriptsManagerOptions {
  readonly bus: Bus;
  /** Runs the scripts; stays the caller's. */
  readonly runner: ScriptRunner;
  /** The most that a request may ask for. */
  readonly maxTimeoutMs: number;
  /** Who answers: the `source` of the responses. */
  readonly source: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Where answers go when a request names no topic. */
const defaultResultTopic = 'script.result';
const subscriptionName = 'scripts-manager';

/**
 * Runs the scripts that are asked for on the bus: exactly one answer for each request, whatever goes wrong. Several managers
 * share the requests. Disposing ends the scripts that run; their callers are told.
 */
export const serveScripts = async (options: ScriptsManagerOptions): Promise<AsyncDisposable> => {
  const { bus, runner, source, clock, log, maxTimeoutMs } = options;
  const running = new Map<string, AbortController>();
  const stopping = new AbortController();

  const runScript = async (request: ScriptInvokeRequest, signal: AbortSignal): Promise<ScriptInvokeResponse> => {
    const startedMs = clock.elapsedMs();
    try {
      const result = await runner.run(
        {
          interpreter: 'python',
          script: request.script,
          inputData: request.inputData,
          packages: request.pipPackages,
          callId: request.toolCallId,
          timeoutMs: Math.min(request.timeoutSeconds * 1000, maxTimeoutMs),
        },
        { signal },
      );
      return toResponse(request, result);
    } catch (error) {
      if (!GantryError.is(error)) log.error({ err: error }, 'a script could not be run');
      const elapsedMs = clock.elapsedMs() - startedMs;
      return { toolCallId: request.toolCallId, exitCode: -1, stderr: messageOf(error), elapsedMs };
    }
  };

  const invoke: MessageHandler = async (envelope) => {
    const request = parseScriptRequest(envelope);
    if (!request) return 'dead-letter';
    const controller = new AbortController();
    const id = idOf(envelope, request);
    running.set(id, controller);
    try {
      const body = await runScript(request, AbortSignal.any([controller.signal, stopping.signal]));
      await bus.publish(
        envelope.replyTo ?? defaultResultTopic,
        createEnvelope({ messageType: scriptMessageTypes.response, source, body, correlationId: id }),
      );
    } finally {
      running.delete(id);
    }
    return 'ack';
  };

  const cancel: MessageHandler = async ({ correlationId = '' }) => {
    running.get(correlationId)?.abort(new GantryError('cancelled', 'The script was given up by its caller.'));
    return 'ack';
  };

  const subscriptions: readonly Subscription[] = [
    // The runner keeps to its own number of scripts at a time.
    await bus.subscribe(topics.scriptInvoke, subscriptionName, invoke, { concurrency: Infinity }),
    // Every manager hears of every cancellation, since any of them may have the script.
    await bus.subscribe(topics.toolCancel, `${source}.script-cancel`, cancel, { concurrency: Infinity }),
  ];
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort(new GantryError('stopped', 'The scripts manager is stopping; the script was ended.'));
      await Promise.all(subscriptions.map((subscription) => subscription[Symbol.asyncDispose]()));
    },
  };
};

/** Senders that set no correlation id look for the id of their call. */
const idOf = ({ correlationId }: Envelope, { toolCallId }: ScriptInvokeRequest): string => correlationId ?? toolCallId;

const toResponse = ({ toolCallId }: ScriptInvokeRequest, result: ScriptResult): ScriptInvokeResponse => ({
  toolCallId,
  output: result.stdout,
  stderr: result.stderr,
  exitCode: result.exitCode ?? -1,
  elapsedMs: result.durationMs,
  outcome: result.outcome,
  signal: result.signal,
  limit: result.limit,
  message: result.message,
  outputBytes: result.stdoutBytes,
  stderrBytes: result.stderrBytes,
});
