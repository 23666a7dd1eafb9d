import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { fromContextHeaders } from '../../../invoke/context-headers.ts';
import { parseArguments } from '../../../text/parse-arguments.ts';
import type { CallContext, OnAsked, Progress } from '../../../tool/context.ts';
import type { ToolInvokeRequest } from '../../../tool/messages.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { PassAttachments, PassedCall } from '../attachments/passthrough.ts';
import type { BridgeSettings } from '../bridge-options.ts';
import { withSecretsMasked } from '../config/entry-secrets.ts';
import { toConnectionFault } from '../connection/connection-errors.ts';
import { shownName } from '../elicitation/form-field.ts';
import { createOpenCall } from '../elicitation/open-call.ts';
import type { ElicitationPolicy } from '../elicitation/policy.ts';
import { policyOf } from '../elicitation/policy.ts';
import type { ArgGuards } from '../guards/create-arg-guards.ts';
import type { ResumeCall } from '../questions/question-desk.ts';
import type { AttemptCall } from './attempt-call.ts';
import type { CallBudget } from './call-budget.ts';
import { callTimeoutMs, startCallBudget } from './call-budget.ts';
import { endedOutcome, faultOutcome } from './call-outcomes.ts';
import { policyHashOf } from './can-hand-back.ts';
import { findTool } from './find-tool.ts';
import { peerOf } from './peer.ts';
import { toResponse } from './rounds.ts';
import type { ServerDirectory } from './server-directory.ts';
import { findServer } from './server-directory.ts';

/** A call as it came over the bus. */
export interface BridgeCall {
  readonly request: ToolInvokeRequest;
  /** The server it is meant for, as the caller wrote it. */
  readonly serverName: string | undefined;
  readonly context: CallContext;
  readonly onProgress: (progress: Progress) => void;
  /** Asks whoever made the call; absent when it cannot be named. */
  readonly ask?: OnAsked | undefined;
  /** Told the budget as soon as it runs, so that others can end the call. */
  readonly onStart: (budget: CallBudget) => void;
}

/** What calls work with. */
export interface CallToolOptions {
  readonly servers: ServerDirectory;
  readonly settings: BridgeSettings;
  readonly argGuards: Pick<ArgGuards, 'rejectionOf'>;
  readonly passAttachments: PassAttachments;
  readonly defaultElicitation: ElicitationPolicy;
  readonly attempt: AttemptCall;
  readonly clock: Clock;
  readonly log: Log;
}

/** Runs calls to servers' tools; every way a call can end is an outcome. */
export interface ToolCaller {
  readonly call: (call: BridgeCall) => Promise<Outcome>;
  /** Sends a call on whose question was answered. */
  readonly resume: ResumeCall;
}

/** A call, or a call that goes on, up to where it is sent. */
interface Wanted {
  readonly serverName: string | undefined;
  readonly tool: string;
  readonly args: JsonObject;
  readonly context: CallContext;
  readonly onProgress: (progress: Progress) => void;
  readonly ask?: OnAsked | undefined;
  readonly resumed?: Parameters<ResumeCall>[0] | undefined;
}

/** Makes the caller. */
export const createToolCaller = (options: CallToolOptions): ToolCaller => {
  const { servers, settings, argGuards, passAttachments, defaultElicitation, attempt, clock, log } = options;

  const run = async (wanted: Wanted, budget: CallBudget): Promise<Outcome> => {
    const { args, context, resumed, onProgress } = wanted;
    const found = await findServer(servers, wanted.serverName, wanted.tool, budget.signal);
    if ('outcome' in found) return found.outcome;
    using lease = found.lease;
    const { server } = found;
    const { entry, connection } = lease.snapshot;
    const match = await findTool(server, lease.snapshot, wanted.tool, { log, signal: budget.signal });
    if ('outcome' in match) return match.outcome;
    const { tool } = match;
    const rejection = await argGuards.rejectionOf(server.entry, { server: server.name, tool: tool.name, args });
    if (rejection !== undefined) return failedOutcome('invalid_arguments', rejection);
    let passed: PassedCall;
    try {
      passed = await passAttachments({
        server: server.name,
        entry,
        tokens: connection.tokens,
        tool: tool.name,
        args,
        alreadySent: resumed?.continuation.sentArgs,
        context,
        signal: budget.signal,
      });
    } catch (error) {
      if (budget.ended || !GantryError.is(error) || error.code !== 'invalid_arguments') throw error;
      return failedOutcome('invalid_arguments', server.maskSecrets(error.message));
    }
    if (resumed && resumed.record.policyHash !== policyHashOf(server.entry))
      return failedOutcome('execution_failed', `The entry of server "${server.name}" was changed since the question.`);
    const open = createOpenCall({
      server: server.name,
      tool: tool.name,
      toolDescription: tool.description,
      inputSchema: tool.inputSchema,
      args,
      namespace: context.namespace,
      policy: effectivePolicy(policyOf(server.entry, defaultElicitation), context),
      ...(resumed && { earlier: earlierOf(resumed) }),
    });
    const peer = peerOf(context, open.policy, wanted.ask);
    const ready = { server, tool, args, passed, open, context, peer, onProgress };
    if (!resumed) return await attempt({ ...ready, startedAtMs: clock.nowMs() }, lease, budget);
    // From here on the answer is spent.
    if (!(await resumed.commit())) return failedOutcome('execution_failed', 'The question was settled meanwhile.');
    const { key, state } = resumed.continuation;
    const response = toResponse(resumed.answer.decision);
    const responses = Object.fromEntries([...Object.entries(state.responses), [key, response]]);
    const from = { ...state, responses };
    return await attempt(
      { ...ready, startedAtMs: resumed.record.call.startedAtMs, from, onNeverSent: resumed.onNeverSent },
      lease,
      budget,
    );
  };

  const within = async (wanted: Wanted, onStart: (budget: CallBudget) => void): Promise<Outcome> => {
    const server = servers.get(wanted.serverName?.toLowerCase() ?? '');
    using budget = startCallBudget(clock, {
      timeoutMs: callTimeoutMs(wanted.context.timeoutMs, server?.entry.toolTimeoutMs, settings),
      maxTimeoutMs: settings.maxTimeoutMs,
    });
    onStart(budget);
    try {
      return await run(wanted, budget);
    } catch (error) {
      if (budget.ended) return endedOutcome(wanted.serverName ?? 'unknown', wanted.tool, budget);
      const fault = toConnectionFault(error, { hadSession: false, mask: server?.maskSecrets });
      (server ? withSecretsMasked(log, server.maskSecrets) : log).warn(
        { tool: wanted.tool, err: error },
        'a call could not be made',
      );
      return faultOutcome(wanted.serverName ?? 'unknown', fault);
    }
  };

  return {
    call: async ({ request, serverName, context, onProgress, ask, onStart }) => {
      const parsed = parseArguments(request.arguments);
      if (!parsed.ok) return failedOutcome('invalid_arguments', parsed.reason);
      return await within(
        { serverName, tool: request.toolName, args: parsed.value, context, onProgress, ask },
        onStart,
      );
    },
    resume: async (resumed) => {
      const { record, continuation, signal } = resumed;
      const context = fromContextHeaders(continuation.context);
      const { args, tool } = continuation;
      const onAbort = (budget: CallBudget): void => {
        if (signal?.aborted) budget.end('cancelled');
        else signal?.addEventListener('abort', () => budget.end('cancelled'), { once: true });
      };
      return await within({ serverName: record.server, tool, args, context, onProgress: noProgress, resumed }, onAbort);
    },
  };
};

// Whoever answered waits for the answer; the progress of the call was for whoever made it.
const noProgress = (): void => {};

/** An operator is shown every question that a policy lets through, whoever else would answer it. */
const effectivePolicy = (policy: ElicitationPolicy, { caller }: CallContext): ElicitationPolicy =>
  caller === 'operator' && policy.mode === 'auto' ? { ...policy, mode: 'handback' } : policy;

const earlierOf = ({ record, continuation, answer }: Parameters<ResumeCall>[0]) => {
  const { decision, answeredFields } = answer;
  const round = {
    message: record.form.message,
    fields: record.form.fields.map(({ name }) => shownName(name)),
    action: decision.action,
    ...(decision.action === 'decline' && { reason: decision.reason }),
    answeredFields,
  };
  return { asked: continuation.asked, rounds: [...continuation.rounds, round] };
};
