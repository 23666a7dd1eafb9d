/**
 * The subagents of a process: delegated runs of the loop that go on without the turn that started them. Each has a record in the store
 * from before it runs until its conversation knows how it ended, so that it ends with exactly one result: its own, an error, or, after a
 * crash, that it was interrupted. Its parts: `run-subagent` (the work), `end-subagent`, `result-delivery` (telling conversations), `orphans` (what
 * an earlier process left).
 */
import type { Bus } from '../../bus/bus.ts';
import { throwIfAborted, orAborted, startDeadline } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { NewId } from '../../kernel/ids.ts';
import type { Log } from '../../kernel/log.ts';
import type { WorkingMemory } from '../../memory/working-memory.ts';
import type { Store } from '../../store/store.ts';
import type { CallContext } from '../../tool/context.ts';
import { withNamedFiles } from '../../tool/opaque-ids.ts';
import type { Notify } from '../../tool/ports.ts';
import type { TierThresholds } from '../models/choose-tier.ts';
import { chooseTier } from '../models/choose-tier.ts';
import type { LoopResult } from '../loop/loop-run.ts';
import { createEndSubagent, createFoldBack } from './end-subagent.ts';
import { createOrphans } from './orphans.ts';
import { priorWork } from './prior-work.ts';
import { createProgressRelay } from './progress-relay.ts';
import { createResultDelivery } from './result-delivery.ts';
import type { RunHoldings } from './run-holdings.ts';
import type { RunSubagentDeps } from './run-subagent.ts';
import { runSubagent } from './run-subagent.ts';
import type { SubagentEntry } from './subagent-entry.ts';
import { createSubagentMessages } from './subagent-messages.ts';
import type { SubagentRecord, SubagentResult } from './subagent-record.ts';
import { taskIdOf } from './subagent-record.ts';
import { createTaskInbox } from './task-inbox.ts';

/** A task to hand over. */
export interface SubagentTask {
  readonly description: string;
  /** What the description refers to, ready to be read. */
  readonly inputs: string | undefined;
  readonly background: string | undefined;
  readonly timeoutMs: number | undefined;
  readonly maxIterations: number | undefined;
  readonly consolidate: boolean;
}

/** A subagent that works. */
export interface RunningSubagent {
  readonly taskId: string;
  readonly description: string;
  readonly elapsedMs: number;
}

/** The subagents of a process. Disposing ends those that run, and tells their conversations so. */
export interface Subagents extends AsyncDisposable {
  /** Tells conversations how subagents of processes that are gone have ended. */
  start(): Promise<void>;
  /**
   * Hands a task over and gives its id; the work goes on by itself.
   * @throws {GantryError} `limit_reached`; `stopped`.
   */
  spawn(task: SubagentTask, context: CallContext & { readonly namespace: string }): Promise<string>;
  /** Ends a subagent of the conversation; false when it has none of that id. Resolves when it has ended, after 5 s at the latest. */
  cancel(taskId: string, namespace: string): Promise<boolean>;
  /** Those of a conversation, oldest first. */
  list(namespace: string): readonly RunningSubagent[];
  /**
   * Tells the conversation of a subagent how it gets on.
   * @throws {GantryError} `limit_reached` after 20 reports; `task_unknown` when it does not run here.
   */
  report(namespace: string, message: string): Promise<void>;
  /** Takes a late result of a subagent's call: for the subagent while it runs, else for its conversation. */
  readonly notify: Notify;
}

/** What subagents work with. */
export interface SubagentsOptions extends Omit<RunSubagentDeps, 'openTasks'> {
  readonly store: Pick<Store, 'documents' | 'leases'>;
  readonly bus: Pick<Bus, 'publish'>;
  /** Identity of the process on the bus. */
  readonly agent: string;
  readonly memory: Pick<WorkingMemory, 'list' | 'save' | 'stash'>;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly log: Log;
  readonly thresholds: TierThresholds;
  readonly holdings: RunHoldings;
  /** Tells conversations. */
  readonly notify: Notify;
  /** What the user of a conversation said last. */
  readonly lastUserText: (namespace: string) => Promise<string | undefined>;
  readonly maxConcurrent: number;
  readonly defaultTimeoutMs: number;
}

const cancelWaitMs = 5_000;
const idLength = 12;

/** Makes the subagents of a process. */
export const createSubagents = (options: SubagentsOptions): Subagents => {
  const { store, clock, newId, log, holdings } = options;
  const documents = store.documents<SubagentRecord>('subagents');
  const running = new Map<string, SubagentEntry>();
  const messages = createSubagentMessages(options);
  const owner = newId();
  const delivery = createResultDelivery({
    documents,
    notify: options.notify,
    log,
    isWaitedFor: (namespace) =>
      [...running.values()].some(({ record }) => record.namespace === namespace && record.consolidate),
  });
  const orphans = createOrphans({ documents, leases: store.leases, owner, delivery, clock, log });
  /** What is to be done before the store may close. */
  const pending = new Set<Promise<unknown>>();
  let starting = 0;
  let isStopped = false;

  const track = <T>(work: Promise<T>): Promise<T> => {
    const settled: Promise<unknown> = work.then(ignore, ignore).finally(() => pending.delete(settled));
    pending.add(settled);
    return work;
  };

  const foldBack = createFoldBack(options.notify);
  const progress = createProgressRelay(options);
  const end = createEndSubagent({
    ...options,
    documents,
    messages,
    delivery,
    foldBack,
    progress,
    onGone: (taskId) => running.delete(taskId),
  });

  const work = async (
    entry: SubagentEntry,
    task: SubagentTask & { readonly prior: string | undefined },
    context: CallContext,
  ): Promise<void> => {
    const { taskId, record, controller, inbox } = entry;
    // What the turn calls a file or a message is what the task calls it.
    const { features, permissions, ids, trace } = context;
    const timeoutMs = task.timeoutMs ?? options.defaultTimeoutMs;
    using deadline = startDeadline(clock, timeoutMs, {
      signal: controller.signal,
      onExpiry: () =>
        new GantryError('timeout', `It timed out after ${Math.round(timeoutMs / 6_000) / 10} min.`, {
          details: { timeoutMs },
        }),
    });
    const { signal } = deadline;
    let result: Omit<SubagentResult, 'keys' | 'toolCallCount'>;
    try {
      const run = runSubagent(
        { ...options, openTasks: holdings.openTasks },
        {
          taskId,
          workspace: record.workspace,
          task: [withNamedFiles(task.description, ids), task.inputs].filter(Boolean).join('\n\n'),
          background: task.background,
          prior: task.prior,
          tier: chooseTier(task.description, options.thresholds),
          maxIterations: task.maxIterations,
          context: { features, permissions, ids, trace },
          inbox,
          signal,
          onSteps: (steps) => {
            entry.steps = steps;
          },
        },
      );
      // A tool that does not listen must not keep the slot.
      const { text, endedBy, steps } = await orAborted(run, signal);
      entry.steps = steps;
      const error = limitText(endedBy);
      result = { text, isSuccess: error === undefined, error, isExpected: false };
    } catch (error) {
      const isStopping = isStopped || (GantryError.is(error) && error.code === 'stopped');
      result = { text: '', isSuccess: false, error: messageOf(error), isExpected: entry.isCancelled || isStopping };
    }
    await end(entry, result);
    if (running.size + starting > 0) return;
    try {
      await orphans.release();
    } catch (error) {
      log.warn({ reason: messageOf(error) }, 'the lease of the subagents could not be released');
    }
  };

  return {
    start: () => orphans.tell(),
    spawn: async (task, context) => {
      throwIfAborted(context.signal);
      if (isStopped) throw new GantryError('stopped', 'Gantry is stopping, so no subagent can be started.');
      // Counted before anything is awaited, so that two calls never take the same place.
      if (running.size + starting >= options.maxConcurrent)
        throw new GantryError('limit_reached', limitReached(options.maxConcurrent), {
          details: { limit: options.maxConcurrent, scope: 'subagents' },
          retry: 'later',
        });
      starting += 1;
      try {
        const { namespace, workspace } = context;
        const taskId = newId().slice(0, idLength);
        const record: SubagentRecord = {
          namespace,
          workspace,
          description: task.description,
          consolidate: task.consolidate,
          startedAtMs: clock.nowMs(),
          owner,
          isDelivered: false,
        };
        const asked = await options.lastUserText(namespace);
        const prior = await priorWork(documents, namespace, clock.nowMs());
        await orphans.hold();
        const revision = await documents.put(taskId, record);
        const entry: SubagentEntry = {
          taskId,
          record,
          revision,
          asked,
          controller: new AbortController(),
          inbox: createTaskInbox(),
          startedMs: clock.elapsedMs(),
          steps: [],
          isCancelled: false,
          ended: Promise.resolve(),
        };
        if (isStopped) entry.controller.abort(stoppedError());
        running.set(taskId, entry);
        entry.ended = track(work(entry, { ...task, prior }, context));
        return taskId;
      } finally {
        starting -= 1;
      }
    },
    cancel: async (taskId, namespace) => {
      const entry = running.get(taskId);
      if (entry?.record.namespace !== namespace) return false;
      entry.isCancelled = true;
      entry.controller.abort(new GantryError('cancelled', 'It was cancelled.'));
      const waited = Promise.withResolvers<void>();
      const timer = clock.startTimer(cancelWaitMs, waited.resolve);
      await Promise.race([entry.ended, waited.promise]);
      timer.stop();
      return true;
    },
    list: (namespace) =>
      [...running.values()]
        .filter(({ record, isCancelled }) => record.namespace === namespace && !isCancelled)
        .map(({ taskId, record, startedMs }) => ({
          taskId,
          description: record.description,
          elapsedMs: clock.elapsedMs() - startedMs,
        })),
    report: async (namespace, message) => {
      const entry = running.get(taskIdOf(namespace) ?? '');
      if (!entry) throw new GantryError('task_unknown', 'This subagent has ended; nothing more can be reported.');
      const { taskId, record } = entry;
      await progress.report(taskId, record.namespace, message);
      await messages.progress({ taskId, record, message });
    },
    notify: async (notice) => {
      const taskId = taskIdOf(notice.namespace);
      if (taskId === undefined) return;
      if (running.get(taskId)?.inbox.put(notice) === true) return;
      const stored = await documents.get(taskId);
      if (stored) await foldBack(taskId, stored.value, notice);
      else log.warn({ namespace: notice.namespace, kind: notice.kind }, 'a result came late for an unknown subagent');
    },
    [Symbol.asyncDispose]: async () => {
      isStopped = true;
      for (const { controller } of running.values()) controller.abort(stoppedError());
      while (pending.size > 0) await Promise.all(pending);
      await orphans[Symbol.asyncDispose]();
    },
  };
};

const ignore = (): void => {};

const stoppedError = (): GantryError => new GantryError('stopped', 'Gantry was stopped before it had finished.');

const limitReached = (limit: number): string =>
  `Error: ${limit} ${limit === 1 ? 'subagent runs' : 'subagents run'} already, which is the most. Wait for a result, cancel one with cancel_subagent, or do this task yourself.`;

const limitText = (endedBy: LoopResult['endedBy']): string | undefined => {
  switch (endedBy) {
    case 'answer':
      return undefined;
    case 'iterations':
      return 'the limit of tool calls was reached before it had finished';
    case 'errors':
      return 'too many calls failed in a row';
    case 'timeouts':
      return 'its tools took too long';
  }
};
