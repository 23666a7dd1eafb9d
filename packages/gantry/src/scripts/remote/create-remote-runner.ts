import type { Bus } from '../../bus/bus.ts';
import { createEnvelope } from '../../bus/envelope.ts';
import { messageHeaders } from '../../bus/headers.ts';
import { createRequester } from '../../bus/requester.ts';
import { topics } from '../../bus/topics.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import { parsePackages } from '../packages/parse-packages.ts';
import type { RunnerName, ScriptRequest, ScriptResult, ScriptRunner } from '../runner.ts';
import type { ScriptInvokeRequest, ScriptInvokeResponse } from './script-messages.ts';
import { parseScriptResponse, scriptMessageTypes } from './script-messages.ts';

/** What a remote runner works with. */
export interface RemoteRunnerOptions {
  readonly bus: Bus;
  /** Who asks; answers come in on `script.result.{agent}`. */
  readonly agent: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Where the manager runs scripts, and one sentence about what keeps them in. */
  readonly name: RunnerName;
  readonly isolation: string;
}

// The manager ends a script itself; beyond that it is given time to start and to clear away.
const patienceMs = 10_000;

/** Makes a runner that has Python scripts run by a scripts manager on the other side of the bus. */
export const createRemoteRunner = (options: RemoteRunnerOptions): ScriptRunner => {
  const { bus, agent, clock, log, name, isolation } = options;
  const requester = createRequester({
    bus,
    replyTopic: topics.scriptResultOf(agent),
    subscriptionName: `${agent}.script-result`,
    source: agent,
    log,
    clock,
  });

  const giveUp = (correlationId: string): void => {
    const messageType = scriptMessageTypes.cancel;
    const envelope = createEnvelope({ messageType, source: agent, body: {}, correlationId });
    bus
      .publish(topics.scriptCancel, envelope)
      .catch((error: unknown) =>
        log.warn({ correlationId, reason: messageOf(error) }, 'the scripts manager could not be told to give up'),
      );
  };

  return {
    name,
    isolation,
    run: async (request, { signal } = {}) => {
      const correlationId = newId();
      const body = toMessage(request, request.callId ?? correlationId);
      const waitMs = request.timeoutMs + patienceMs;
      let isAnswered = false;
      try {
        const reply = await requester.request(topics.scriptInvoke, {
          messageType: scriptMessageTypes.request,
          body,
          timeoutMs: waitMs,
          headers: { [messageHeaders.contentTrust]: 'tool-request', [messageHeaders.timeoutMs]: String(waitMs) },
          correlationId,
          signal,
          onTimeout: () =>
            new GantryError(
              'timeout',
              `No scripts manager has answered within ${Math.round(waitMs / 1000)} s. Try again later, or do without a script; an operator sees with "gantry doctor" what is wrong.`,
              { details: { timeoutMs: waitMs }, retry: 'later' },
            ),
        });
        isAnswered = true;
        return toResult(parseScriptResponse(reply));
      } finally {
        if (!isAnswered) giveUp(correlationId);
      }
    },
    [Symbol.asyncDispose]: () => requester[Symbol.asyncDispose](),
  };
};

const toMessage = (request: ScriptRequest, toolCallId: string): ScriptInvokeRequest => {
  if (!('interpreter' in request) || request.interpreter !== 'python')
    throw new GantryError('invalid_arguments', 'A scripts manager runs Python only.');
  if ((request.files?.length ?? 0) > 0 || request.stdin !== undefined)
    throw new GantryError(
      'invalid_arguments',
      'Scripts of a scripts manager are given no files and no standard input; give the data as input.',
    );
  const pipPackages = parsePackages(request.packages);
  return {
    toolCallId,
    script: request.script,
    inputData: request.inputData,
    timeoutSeconds: request.timeoutMs / 1000,
    ...(pipPackages.length > 0 && { pipPackages }),
  };
};

/** A manager that could not run the script says so with the exit code −1, which no script can have. */
const toResult = (response: ScriptInvokeResponse): ScriptResult => {
  const { exitCode, output: stdout = '', stderr = '', elapsedMs, limit } = response;
  if (exitCode === -1 && response.outcome === undefined)
    throw new GantryError('execution_failed', stderr === '' ? 'The scripts manager could not run the script.' : stderr);
  const outcome = response.outcome ?? (exitCode === 0 ? 'success' : 'failed');
  return {
    outcome,
    exitCode: exitCode === -1 ? null : exitCode,
    signal: response.signal,
    stdout,
    stderr,
    stdoutBytes: response.outputBytes ?? Buffer.byteLength(stdout),
    stderrBytes: response.stderrBytes ?? Buffer.byteLength(stderr),
    limit,
    message:
      response.message ?? (outcome === 'success' ? 'The script succeeded.' : `It ended with exit code ${exitCode}.`),
    durationMs: elapsedMs,
    files: [],
    filesLeftOut: [],
  };
};
