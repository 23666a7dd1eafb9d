import type { Bus, MessageHandler } from '../../bus/bus.ts';
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
  /** Requests that this manager takes at once; the others stay where another manager can take them. Default all. */
  readonly concurrency?: number | undefined;
  /** Who answers: the `source` of the responses. */
  readonly source: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Where answers go when a request names no topic. */
const defaultResultTopic = 'script.result';
/** Whose queue of requests the managers share. */
export const scriptsManagerName = 'scripts-manager';

// Requests that were given up before a manager had them; what is older than so many others has expired.
const mostCancelled = 1000;

/**
 * Runs the scripts that are asked for on the bus: exactly one answer for each request, whatever goes wrong. Several managers
 * share the requests. Disposing ends the scripts that run; their callers are told.
 */
export const serveScripts = async (options: ScriptsManagerOptions): Promise<AsyncDisposable> => {
  const { bus, runner, source, clock, log, maxTimeoutMs, concurrency = Infinity } = options;
  const running = new Map<string, AbortController>();
  const cancelled = new Set<string>();
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

  const answer = async (request: Envelope, body: ScriptInvokeResponse, correlationId: string): Promise<void> => {
    const reply = createEnvelope({ messageType: scriptMessageTypes.response, source, body, correlationId });
    await bus.publish(request.replyTo ?? defaultResultTopic, reply);
  };

  const invoke: MessageHandler = async (envelope) => {
    const request = parseScriptRequest(envelope);
    if (!request) return 'dead-letter';
    const controller = new AbortController();
    const id = idOf(envelope, request);
    // Nobody waits for it any more.
    if (cancelled.delete(id)) return 'ack';
    running.set(id, controller);
    try {
      const body = await runScript(request, AbortSignal.any([controller.signal, stopping.signal]));
      await answer(envelope, body, id);
    } catch (error) {
      if (!GantryError.is(error)) throw error;
      // The request outlives a broker that is away, and a script may run twice.
      if (error.code === 'bus_unreachable') return 'retry';
      if (error.code !== 'message_invalid') throw error;
      await answer(envelope, { toolCallId: request.toolCallId, exitCode: -1, stderr: error.message, elapsedMs: 0 }, id);
    } finally {
      running.delete(id);
    }
    return 'ack';
  };

  const cancel: MessageHandler = async ({ correlationId = '' }) => {
    const script = running.get(correlationId);
    if (script) script.abort(new GantryError('cancelled', 'The script was given up by its caller.'));
    else {
      cancelled.add(correlationId);
      for (const oldest of cancelled) if (cancelled.size > mostCancelled) cancelled.delete(oldest);
    }
    return 'ack';
  };

  await using opened = new AsyncDisposableStack();
  // Every manager hears of every cancellation, since any of them may have the script, or get it.
  const everyone = { concurrency: Infinity, perProcess: true };
  opened.use(await bus.subscribe(topics.scriptCancel, `${source}.script-cancel`, cancel, everyone));
  opened.use(await bus.subscribe(topics.scriptInvoke, scriptsManagerName, invoke, { concurrency }));
  const subscriptions = opened.move();
  return {
    [Symbol.asyncDispose]: async () => {
      stopping.abort(new GantryError('stopped', 'The scripts manager is stopping; the script was ended.'));
      await subscriptions.disposeAsync();
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
