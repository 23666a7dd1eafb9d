import { orAborted } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { parseArguments } from '../../../text/parse-arguments.ts';
import type { CallContext, Progress } from '../../../tool/context.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { ToolInvokeRequest } from '../../../tool/messages.ts';
import { reportedFailure } from '../../../tool/messages.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import { partsText } from '../../../tool/outcome-text.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';
import type { PassAttachments, PassedCall } from '../attachments/passthrough.ts';
import type { BridgeSettings } from '../bridge-options.ts';
import { withSecretsMasked } from '../config/entry-secrets.ts';
import type { ConnectionFault } from '../connection/connection-errors.ts';
import { toConnectionFault } from '../connection/connection-errors.ts';
import type { ArgGuards } from '../guards/create-arg-guards.ts';
import type { MapResult } from '../result/result-mapper.ts';
import type { Lease, ManagedServer } from '../server/managed-server.ts';
import { argumentHint } from './argument-hint.ts';
import type { CallBudget } from './call-budget.ts';
import { callTimeoutMs, startCallBudget } from './call-budget.ts';
import { endedOutcome, faultOutcome } from './call-outcomes.ts';
import { findTool } from './find-tool.ts';
import { sendCall } from './send-call.ts';
import type { ServerDirectory } from './server-directory.ts';
import { findServer } from './server-directory.ts';

/** A call as it came over the bus. */
export interface BridgeCall {
  readonly request: ToolInvokeRequest;
  /** The server it is meant for, as the caller wrote it. */
  readonly serverName: string | undefined;
  readonly context: CallContext;
  readonly onProgress: (progress: Progress) => void;
  /** Told the budget as soon as it runs, so that others can end the call. */
  readonly onStart: (budget: CallBudget) => void;
}

/** What calls work with. */
export interface CallToolOptions {
  readonly servers: ServerDirectory;
  readonly settings: BridgeSettings;
  readonly mapResult: MapResult;
  readonly argGuards: Pick<ArgGuards, 'rejectionOf'>;
  readonly passAttachments: PassAttachments;
  readonly clock: Clock;
  readonly log: Log;
}

/** The arguments as the caller wrote them, for what is said about them, and as they are sent. */
interface Sending {
  readonly args: JsonObject;
  readonly passed: PassedCall;
}

/** Runs calls to servers' tools; every way a call can end is an outcome. */
export const createToolCaller = (options: CallToolOptions): ((call: BridgeCall) => Promise<Outcome>) => {
  const { servers, settings, mapResult, argGuards, passAttachments, clock, log } = options;

  const logOf = (server: ManagedServer): Log => withSecretsMasked(log, server.maskSecrets);

  const run = async (call: BridgeCall, budget: CallBudget): Promise<Outcome> => {
    const { toolName } = call.request;
    const found = await findServer(servers, call.serverName, toolName, budget.signal);
    if ('outcome' in found) return found.outcome;
    using lease = found.lease;
    const { server } = found;
    const match = await findTool(server, lease.snapshot, toolName, { log, signal: budget.signal });
    if ('outcome' in match) return match.outcome;
    const parsed = parseArguments(call.request.arguments);
    if (!parsed.ok) return failedOutcome('invalid_arguments', parsed.reason);
    const args = parsed.value;
    const { name: tool } = match.tool;
    const rejection = await argGuards.rejectionOf(server.entry, { server: server.name, tool, args });
    if (rejection !== undefined) return failedOutcome('invalid_arguments', rejection);
    const { entry, connection } = lease.snapshot;
    let passed: PassedCall;
    try {
      const { tokens } = connection;
      const { signal } = budget;
      const { context } = call;
      passed = await passAttachments({ server: server.name, entry, tokens, tool, args, context, signal });
    } catch (error) {
      if (budget.ended || !GantryError.is(error) || error.code !== 'invalid_arguments') throw error;
      return failedOutcome('invalid_arguments', server.maskSecrets(error.message));
    }
    return await callOnce(server, lease, match.tool, { args, passed }, call, budget, true);
  };

  const callOnce = async (
    server: ManagedServer,
    { snapshot }: Lease,
    tool: DownstreamTool,
    sending: Sending,
    call: BridgeCall,
    budget: CallBudget,
    mayRetry: boolean,
  ): Promise<Outcome> => {
    const { args, passed } = sending;
    const hadSession = snapshot.connection.hasSession();
    const { context, onProgress } = call;
    let raw: unknown;
    try {
      raw = await sendCall(snapshot, tool, passed.args, { budget, trace: context.trace, onProgress });
    } catch (error) {
      if (budget.ended) return endedOutcome(server.name, tool.name, budget);
      const fault = toConnectionFault(error, { hadSession, mask: server.maskSecrets });
      logOf(server).debug({ server: server.name, tool: tool.name, fault, err: error }, 'a call to a server failed');
      if (fault.kind === 'auth' && fault.status !== 403)
        server.lockOut(snapshot.connection, faultText(faultOutcome(server.name, fault)));
      if (!mayRetry || !(isRepeatable(fault, tool) || isConnectionGone(fault)))
        return withHint(faultOutcome(server.name, fault), tool, args, context);
      return await callAgain(server, snapshot, tool, sending, call, budget, fault);
    }
    const outcome = await mapResult(raw, {
      server: server.name,
      tool: tool.name,
      context,
      attachments: snapshot.entry.attachments,
      receive: passed.receive,
    });
    return withHint(outcome, tool, args, context);
  };

  // Once and on another connection, and only where it cannot do harm. Whether or not the call is repeated, the next one finds the new connection.
  const callAgain = async (
    server: ManagedServer,
    failed: Lease['snapshot'],
    tool: DownstreamTool,
    sending: Sending,
    call: BridgeCall,
    budget: CallBudget,
    fault: ConnectionFault,
  ): Promise<Outcome> => {
    const reconnecting = server.leaseConnected({ signal: budget.signal, instead: failed });
    if (!isRepeatable(fault, tool)) {
      reconnecting.then(
        (unused) => unused[Symbol.dispose](),
        (error: unknown) =>
          logOf(server).debug({ server: server.name, err: error }, 'a server could not be connected again'),
      );
      return faultOutcome(server.name, fault);
    }
    let lease: Lease;
    try {
      lease = await orAborted(reconnecting, budget.signal);
    } catch (error) {
      if (budget.ended) return endedOutcome(server.name, tool.name, budget);
      logOf(server).debug({ server: server.name, err: error }, 'a server could not be connected again');
      return faultOutcome(server.name, fault);
    }
    using held = lease;
    const match = await findTool(server, held.snapshot, tool.name, { log, signal: budget.signal });
    return 'outcome' in match ? match.outcome : await callOnce(server, held, match.tool, sending, call, budget, false);
  };

  return async (call) => {
    const server = servers.get(call.serverName?.toLowerCase() ?? '');
    using budget = startCallBudget(clock, {
      timeoutMs: callTimeoutMs(call.context.timeoutMs, server?.entry.toolTimeoutMs, settings),
      maxTimeoutMs: settings.maxTimeoutMs,
    });
    call.onStart(budget);
    try {
      return await run(call, budget);
    } catch (error) {
      if (budget.ended) return endedOutcome(call.serverName ?? 'unknown', call.request.toolName, budget);
      const fault = toConnectionFault(error, { hadSession: false, mask: server?.maskSecrets });
      (server ? logOf(server) : log).warn({ tool: call.request.toolName, err: error }, 'a call could not be made');
      return faultOutcome(call.serverName ?? 'unknown', fault);
    }
  };
};

/** The outcome of a tool that reported an error, with a hint on the arguments in a part of its own; one passed through stays as it is. */
const withHint = (outcome: Outcome, tool: DownstreamTool, args: JsonObject, { caller }: CallContext): Outcome => {
  const report = outcome.status === 'failed' ? outcome.failure.reported : undefined;
  if (!report || caller === 'passthrough') return outcome;
  const text = argumentHint(tool, args, partsText(report.parts));
  return text === undefined
    ? outcome
    : reportedFailure({ ...report, parts: [...report.parts, { type: 'text', text }] });
};

const faultText = (outcome: Outcome): string => (outcome.status === 'failed' ? outcome.failure.message : '');

const isConnectionGone = (fault: ConnectionFault): boolean =>
  fault.kind === 'session_lost' || fault.kind === 'disconnected';

const isRepeatable = (fault: ConnectionFault, { annotations }: DownstreamTool): boolean =>
  fault.kind === 'session_lost' ||
  (fault.kind === 'disconnected' && fault.notRun) ||
  ((fault.kind === 'disconnected' || fault.kind === 'cut_off') &&
    (annotations?.readOnlyHint === true || annotations?.idempotentHint === true));
