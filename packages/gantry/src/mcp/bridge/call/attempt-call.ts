import type { ClientCapabilities } from '@modelcontextprotocol/client';
import { orAborted } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { CallContext, Progress } from '../../../tool/context.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';
import type { PassedCall } from '../attachments/passthrough.ts';
import { withSecretsMasked } from '../config/entry-secrets.ts';
import type { ConnectionFault } from '../connection/connection-errors.ts';
import { toConnectionFault } from '../connection/connection-errors.ts';
import type { DecideQuestion } from '../elicitation/decide-question.ts';
import type { Form } from '../elicitation/form.ts';
import { shownName } from '../elicitation/form-field.ts';
import type { Connection } from '../connection/open-connection.ts';
import { askingCapabilities } from '../connection/open-connection.ts';
import type { OpenCall } from '../elicitation/open-call.ts';
import type { QuestionDesk } from '../questions/question-desk.ts';
import { taskOf } from '../result/unfinished.ts';
import { mayRunTask, taskCapabilities } from '../tasks/can-run-task.ts';
import type { TaskDesk } from '../tasks/task-desk.ts';
import type { MapResult } from '../result/result-mapper.ts';
import type { Sampler } from '../sampling/sampler.ts';
import type { Lease, ManagedServer } from '../server/managed-server.ts';
import { createCallAnswers } from './call-answers.ts';
import type { CallBudget } from './call-budget.ts';
import { endedOutcome, faultOutcome, isHarmlessTwice } from './call-outcomes.ts';
import { canHandBack, toAskedServer } from './can-hand-back.ts';
import { findTool } from './find-tool.ts';
import type { OpenCalls } from './open-calls.ts';
import type { OpenOwnSession } from './own-session.ts';
import type { Peer } from './peer.ts';
import { peerCapabilities } from './peer.ts';
import type { PassTargets } from '../pass/open-pass.ts';
import type { CallState } from './rounds.ts';
import { runRounds } from './rounds.ts';
import { paramsOf, sendCall } from './send-call.ts';
import { sendHeard } from './send-heard.ts';
import { withHint } from './with-hint.ts';
import { withNote } from './with-note.ts';

/** A call that may be sent: its server and tool are found, and nothing speaks against its arguments. */
export interface ReadyCall {
  readonly server: ManagedServer;
  readonly tool: DownstreamTool;
  /** As the caller wrote them, for what is said about them. */
  readonly args: JsonObject;
  readonly passed: PassedCall;
  readonly open: OpenCall;
  readonly context: CallContext;
  /** The client that made it, where it can be asked. */
  readonly peer?: Peer | undefined;
  readonly startedAtMs: number;
  readonly onProgress: (progress: Progress) => void;
  /** Where the call stands, when it goes on after an answer. */
  readonly from?: CallState | undefined;
  /** Nothing of the call reached the server, which is certain. */
  readonly onNeverSent?: (() => void) | undefined;
}

/** What sending works with. */
export interface AttemptCallOptions {
  readonly mapResult: MapResult;
  readonly decide: DecideQuestion;
  readonly sample: Sampler['sample'];
  readonly openCalls: OpenCalls;
  readonly handBack: QuestionDesk['handBack'];
  readonly tasks: Pick<TaskDesk, 'refusal' | 'begin'>;
  readonly targetOf: PassTargets;
  readonly openOwnSession: OpenOwnSession;
  /** What the bridge says its version is. */
  readonly version: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** Sends a call through all its rounds, once more where that cannot do harm, and gives its outcome. */
export type AttemptCall = (call: ReadyCall, lease: Lease, budget: CallBudget) => Promise<Outcome>;

/** Makes the sender. */
export const createAttemptCall = (options: AttemptCallOptions): AttemptCall => {
  const { mapResult, decide, sample, openCalls, handBack, tasks, targetOf, openOwnSession, version, clock, log } =
    options;

  const logOf = (server: ManagedServer): Log => withSecretsMasked(log, server.maskSecrets);

  const attempt = async (call: ReadyCall, lease: Lease, budget: CallBudget, mayRetry: boolean): Promise<Outcome> => {
    const { server, tool, args, passed, open, context, peer, onProgress, startedAtMs, from } = call;
    const { snapshot } = lease;
    const { connection, entry } = snapshot;
    const hadSession = connection.hasSession();
    const asTask = mayRunTask(entry, connection, context);
    const refusal = asTask ? await tasks.refusal(context) : undefined;
    if (refusal) return refusal;
    const isHandedBack = canHandBack(open, context, connection);
    const capabilities = peer ? peerCapabilities(peer, connection) : capabilitiesOf(connection, isHandedBack, asTask);
    const answers = createCallAnswers({ snapshot, open, peer, canHandBack: isHandedBack, budget, decide, sample });
    let sends = 0;
    // A server of 2025 is told in the handshake what its client can be asked for, so what it asks there is of this call.
    let isOnOwn = peer !== undefined && !connection.isModern && connection.transport !== 'sse';
    let end: Awaited<ReturnType<typeof runRounds>>;
    try {
      const says = {
        clientInfo: { name: 'gantry', version },
        capabilities: capabilities as JsonObject,
        logLevel: undefined,
      };
      using own = isOnOwn
        ? await openOwnSession(
            targetOf(server, snapshot),
            { client: context.client, connection: context.connection, says },
            budget.signal,
          )
        : undefined;
      isOnOwn = own !== undefined;
      using _asked = own ? undefined : openCalls.enter(server.name, { open, budget });
      end = await runRounds(
        {
          server: server.name,
          tool: tool.name,
          send: (round) => {
            sends += 1;
            if (own)
              return own.call(paramsOf(tool, passed.args, context.trace), {
                signal: budget.signal,
                onProgress: (progress) => {
                  budget.progressed();
                  onProgress(progress);
                },
                answer: answers.answerOver,
              });
            const { trace } = context;
            const send = (signal: AbortSignal): Promise<unknown> =>
              sendCall(snapshot, tool, passed.args, { budget, signal, trace, onProgress, round, capabilities });
            return asTask ? sendHeard(send, { snapshot, budget, clock, log: logOf(server) }) : send(budget.signal);
          },
          decide: answers.decide,
          answer: answers.answer,
          handBack: async (question) => {
            const server = toAskedServer(snapshot);
            const sentArgs = passed.args;
            const answer = await handBack({ server, tool, open, question, args, sentArgs, context, startedAtMs });
            if (!('status' in answer)) recordDecline(open, question.decision.form, answer.reason);
            return answer;
          },
        },
        from,
      );
    } catch (error) {
      if (budget.ended) return withNote(endedOutcome(server.name, tool.name, budget), open, context);
      const fault = toConnectionFault(error, { hadSession, mask: server.maskSecrets });
      logOf(server).debug({ server: server.name, tool: tool.name, fault, err: error }, 'a call to a server failed');
      if (fault.kind === 'auth' && fault.status !== 403)
        server.lockOut(connection, failureText(faultOutcome(server.name, fault)));
      const isNeverSent = sends <= 1 && fault.kind === 'disconnected' && fault.notRun;
      // A server that has asked something has begun.
      const isFresh =
        mayRetry &&
        !isOnOwn &&
        !answers.hasAskedPeer &&
        ((open.rounds.length === 0 && open.asked === 0 && !from) || isNeverSent);
      if (isNeverSent && !isFresh) call.onNeverSent?.();
      if (!isFresh || !(isRepeatable(fault, tool) || isConnectionGone(fault)))
        return withNote(withHint(faultOutcome(server.name, fault, tool), tool, args, context), open, context);
      return await again(call, lease, budget, fault);
    }
    if ('outcome' in end) return end.outcome.status === 'parked' ? end.outcome : withNote(end.outcome, open, context);
    const task = asTask ? taskOf(end.raw) : undefined;
    if (task) {
      const started = { snapshot, tool: tool.name, args, sentArgs: passed.args, context, open, task };
      return await tasks.begin({ ...started, signal: budget.signal });
    }
    const outcome = await mapResult(end.raw, {
      server: server.name,
      tool: tool.name,
      context,
      attachments: entry.attachments,
      receive: passed.receive,
    });
    return withNote(withHint(outcome, tool, args, context), open, context);
  };

  // Once and on another connection, and only where it cannot do harm. Whether or not the call is repeated, the next one finds the new connection.
  const again = async (
    call: ReadyCall,
    { snapshot: failed }: Lease,
    budget: CallBudget,
    fault: ConnectionFault,
  ): Promise<Outcome> => {
    const { server, tool } = call;
    const reconnecting = server.leaseConnected({ signal: budget.signal, instead: failed });
    if (!isRepeatable(fault, tool)) {
      reconnecting.then(
        (unused) => unused[Symbol.dispose](),
        (error: unknown) =>
          logOf(server).debug({ server: server.name, err: error }, 'a server could not be connected again'),
      );
      return faultOutcome(server.name, fault, tool);
    }
    let lease: Lease;
    try {
      lease = await orAborted(reconnecting, budget.signal);
    } catch (error) {
      if (fault.kind === 'disconnected' && fault.notRun) call.onNeverSent?.();
      if (budget.ended) return endedOutcome(server.name, tool.name, budget);
      logOf(server).debug({ server: server.name, err: error }, 'a server could not be connected again');
      return faultOutcome(server.name, fault, tool);
    }
    using held = lease;
    const match = await findTool(server, held.snapshot, tool.name, { log, signal: budget.signal });
    return 'outcome' in match ? match.outcome : await attempt({ ...call, tool: match.tool }, held, budget, false);
  };

  return (call, lease, budget) => attempt(call, lease, budget, true);
};

/** What this call can do that its connection did not say; undefined when there is no difference. */
const capabilitiesOf = (
  { mayAsk, maySample }: Pick<Connection, 'mayAsk' | 'maySample'>,
  isHandedBack: boolean,
  asTask: boolean,
): ClientCapabilities | undefined => {
  if (asTask) return taskCapabilities(mayAsk || isHandedBack);
  return isHandedBack && !mayAsk ? askingCapabilities({ mayAsk: true, maySample }) : undefined;
};

const recordDecline = (open: OpenCall, { message, fields }: Form, reason: string): void =>
  open.record({
    message,
    fields: fields.map(({ name }) => shownName(name)),
    action: 'decline',
    reason,
    answeredFields: [],
  });

const failureText = (outcome: Outcome): string => (outcome.status === 'failed' ? outcome.failure.message : '');

const isConnectionGone = (fault: ConnectionFault): boolean =>
  fault.kind === 'session_lost' || fault.kind === 'disconnected';

const isRepeatable = (fault: ConnectionFault, tool: DownstreamTool): boolean =>
  fault.kind === 'session_lost' ||
  (fault.kind === 'disconnected' && fault.notRun) ||
  ((fault.kind === 'disconnected' || fault.kind === 'cut_off') && isHarmlessTwice(tool));
