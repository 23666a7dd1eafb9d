import { newId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { OpenPass } from '../../wire/pass-port.ts';
import { createOlderSessions } from '../../wire/sessions/older-sessions.ts';
import { createOwnPrograms } from '../../wire/sessions/own-programs.ts';
import { createPassthrough } from '../attachments/passthrough.ts';
import type { BridgeSettings } from '../bridge-options.ts';
import type { McpBridgeOptions } from '../bridge.ts';
import type { ServerEntry } from '../config/server-entry.ts';
import type { HttpPool } from '../connection/http-pool.ts';
import type { Answers } from '../connection/open-connection.ts';
import { createQuestionDecider } from '../elicitation/decide-question.ts';
import { parseElicitationPolicy, policyOf } from '../elicitation/policy.ts';
import type { ArgGuards } from '../guards/create-arg-guards.ts';
import { createLateResults } from '../late-results.ts';
import { createOpenPass, createPassTargets } from '../pass/open-pass.ts';
import { createSampler } from '../sampling/sampler.ts';
import type { QuestionDesk } from '../questions/question-desk.ts';
import { createQuestionDesk } from '../questions/question-desk.ts';
import { createResultMapper } from '../result/result-mapper.ts';
import { createPollTask } from '../tasks/poll-task.ts';
import type { TaskDesk } from '../tasks/task-desk.ts';
import { createTaskDesk } from '../tasks/task-desk.ts';
import { createAttemptCall } from './attempt-call.ts';
import type { ToolCaller } from './call-tool.ts';
import { createToolCaller } from './call-tool.ts';
import { canAnswer } from './can-hand-back.ts';
import { callTimeoutMs } from './call-budget.ts';
import type { EnteredCall } from './open-calls.ts';
import { createOpenCalls } from './open-calls.ts';
import { openOwnSession } from './own-session.ts';
import { toResponse } from './rounds.ts';
import type { ServerDirectory } from './server-directory.ts';

/** Everything that happens to the calls of a bridge. Disposing stops looking after questions and tasks; neither is lost. */
export interface BridgeCalls extends AsyncDisposable {
  readonly call: ToolCaller['call'];
  readonly questions: QuestionDesk;
  readonly tasks: TaskDesk;
  readonly openPass: OpenPass;
  /** What the server of an entry may ask in the middle of calls, and what answers it. */
  answersFor(server: string, entry: ServerEntry): Answers;
}

/** What they are made of. */
export interface BridgeCallsOptions extends Pick<
  McpBridgeOptions,
  | 'agent'
  | 'bus'
  | 'clock'
  | 'log'
  | 'volume'
  | 'env'
  | 'store'
  | 'stash'
  | 'lastUserTurn'
  | 'responders'
  | 'defaultResponder'
  | 'model'
  | 'version'
> {
  readonly settings: BridgeSettings;
  readonly servers: ServerDirectory;
  readonly pool: HttpPool;
  readonly argGuards: ArgGuards;
}

/** Puts them together: calls ask questions, questions let calls go on, tasks do both. */
export const createBridgeCalls = (options: BridgeCallsOptions): BridgeCalls => {
  const { agent, bus, clock, log, volume, env, store, settings, servers, pool, argGuards } = options;
  const { policy: defaultElicitation, warnings } = parseElicitationPolicy(settings.defaultElicitation, {
    scope: 'default',
  });
  for (const warning of warnings) log.warn({}, warning);
  const policyFor = (entry: ServerEntry) => policyOf(entry, defaultElicitation);
  const openCalls = createOpenCalls();
  const sampler = createSampler({ model: options.model, spent: store.documents('mcp-sampling'), clock, log });
  const decide = createQuestionDecider({
    responders: options.responders ?? new Map(),
    defaultResponder: options.defaultResponder,
    clock,
    log,
  });
  const deliver = createLateResults({ bus, agent, stash: options.stash, log });
  const questions: QuestionDesk = createQuestionDesk({
    store,
    clock,
    log,
    newId,
    tell: deliver,
    lastUserTurn: options.lastUserTurn,
    maxPendingQuestions: settings.maxPendingQuestions,
    maxPendingQuestionsPerSession: settings.maxPendingQuestionsPerSession,
    resume: (resumed) => (resumed.record.task === undefined ? caller : tasks).resume(resumed),
  });
  const olderSessions = createOlderSessions({ clock, log });
  const programs = createOwnPrograms({ clock, log });
  const targetOf = createPassTargets({
    pool,
    env,
    argGuards,
    openCalls,
    policyOf: policyFor,
    sessions: olderSessions,
    programs,
    maxResponseBytes: settings.maxResponseBytes,
    timeoutMsOf: ({ toolTimeoutMs }) => callTimeoutMs(undefined, toolTimeoutMs, settings),
    maxTimeoutMs: settings.maxTimeoutMs,
    clock,
    log,
  });
  const mapResult = createResultMapper({ volume, log });
  const passAttachments = createPassthrough({ volume, http: pool.filesFor, env, clock, log });
  const tasks: TaskDesk = createTaskDesk({
    store,
    servers,
    clock,
    log,
    newId,
    deliver,
    poll: createPollTask({ mapResult, passAttachments, decide, questions, policyOf: ({ entry }) => policyFor(entry) }),
    maxTasks: settings.maxTasks,
    maxTasksPerSession: settings.maxTasksPerSession,
    defaultTaskTimeoutMinutes: settings.defaultTaskTimeoutMinutes,
    pollMinMs: settings.taskPollMinMs,
    pollMaxMs: settings.taskPollMaxMs,
    pollFailureLimit: settings.taskPollFailureLimit,
  });
  const { handBack } = questions;
  const caller: ToolCaller = createToolCaller({
    servers,
    settings,
    argGuards,
    passAttachments,
    defaultElicitation,
    attempt: createAttemptCall({
      mapResult,
      decide,
      sample: sampler.sample,
      openCalls,
      handBack,
      tasks,
      targetOf,
      openOwnSession,
      version: options.version,
      clock,
      log,
    }),
    clock,
    log,
  });

  const pausedFor = (entered: readonly EnteredCall[]): Disposable => {
    const pauses = new DisposableStack();
    for (const { budget } of entered) pauses.use(budget.pause());
    return pauses;
  };
  /** An older server asks over its session; the answer is the result of `elicitation/create`. */
  const answerOver = async (server: string, params: unknown, signal: AbortSignal): Promise<JsonObject> => {
    const entered = openCalls.of(server);
    using _paused = pausedFor(entered);
    const decision = await decide(params, { calls: entered.map(({ open }) => open), canHandBack: false, signal });
    return toResponse(decision.action === 'hand-back' ? { action: 'decline', reason: '' } : decision);
  };

  return {
    call: caller.call,
    questions,
    tasks,
    openPass: createOpenPass({ servers, targetOf }),
    answersFor: (server, entry) => ({
      ...(canAnswer(policyFor(entry), options) && {
        'elicitation/create': (params, signal) => answerOver(server, params, signal),
      }),
      ...(sampler.maySample(entry) && {
        'sampling/createMessage': async (params, signal) => {
          using _paused = pausedFor(openCalls.of(server));
          return await sampler.sample({ name: server, entry }, params, signal);
        },
      }),
    }),
    [Symbol.asyncDispose]: async () => {
      await tasks[Symbol.asyncDispose]();
      await questions[Symbol.asyncDispose]();
      await Promise.all([olderSessions[Symbol.asyncDispose](), programs[Symbol.asyncDispose]()]);
    },
  };
};
