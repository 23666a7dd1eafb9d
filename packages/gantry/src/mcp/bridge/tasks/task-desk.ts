/**
 * Calls that go on in the background. A task lives on its server; here it is a row in the ledger, written before anybody hears of it, so
 * it survives a restart. Of the processes on one store the holder of a lease polls all of them; whoever cancels or answers does so from
 * any process.
 */
import { startDeadline } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { NewId } from '../../../kernel/ids.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import { toContextHeaders } from '../../../invoke/context-headers.ts';
import type { LedgerEntry } from '../../../store/ledger.ts';
import type { Store } from '../../../store/store.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome, textOutcome } from '../../../tool/outcome.ts';
import type { ServerDirectory } from '../call/server-directory.ts';
import { toResponse } from '../call/rounds.ts';
import { identityHashOf } from '../config/identity.ts';
import type { OpenCall } from '../elicitation/open-call.ts';
import { redactArguments } from '../elicitation/redact.ts';
import type { DeliverLate } from '../late-results.ts';
import type { Answerer } from '../questions/check-answer.ts';
import type { ResumeCall } from '../questions/question-desk.ts';
import type { Snapshot } from '../server/managed-server.ts';
import type { ConfiguredEntry } from '../server/managed-server.ts';
import { hasTasks } from './can-run-task.ts';
import type { PollTask } from './poll-task.ts';
import { openHold, sealHold } from './task-hold.ts';
import type { TaskEnd, TaskRecord } from './task-record.ts';
import { cancelTask, toTaskState, updateTask } from './task-requests.ts';
import { createTaskRunner } from './task-runner.ts';

/** A call that its server took on as a task. */
export interface StartedTask {
  readonly snapshot: Snapshot;
  readonly tool: string;
  readonly args: JsonObject;
  readonly sentArgs: JsonObject;
  readonly context: CallContext;
  readonly open: OpenCall;
  /** The server's answer. */
  readonly task: JsonObject;
  readonly signal: AbortSignal;
}

/** The tasks of a bridge. */
export interface TaskDesk extends AsyncDisposable {
  /** Begins to follow unfinished tasks, also those of an earlier process. */
  start(): void;
  /** Why a session may start no further task now; undefined when it may. */
  refusal(context: CallContext): Promise<Outcome | undefined>;
  /** Records a task and gives how the call ended for now; one that cannot be recorded is cancelled. */
  begin(started: StartedTask): Promise<Outcome>;
  /** Sends the answer to a task's question on. */
  readonly resume: ResumeCall;
  /** Unfinished tasks, oldest first. */
  list(): Promise<readonly LedgerEntry<TaskRecord>[]>;
  /**
   * Cancels a task; its session is not told. Gives a sentence for whoever asked.
   * @throws {GantryError} `task_unknown`, also for a task that is not theirs.
   */
  cancel(id: string, by: Answerer): Promise<string>;
  /** Cancels the tasks of servers that run no tasks any more or have another address and, where asked, of those not among the entries. */
  keepOnly(entries: readonly ConfiguredEntry[], options: { readonly endsAbsent: boolean }): Promise<void>;
}

/** What the desk works with. */
export interface TaskDeskOptions {
  readonly store: Pick<Store, 'ledger' | 'secrets' | 'leases'>;
  readonly servers: ServerDirectory;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly poll: PollTask;
  readonly deliver: DeliverLate;
  readonly maxTasks: number;
  readonly maxTasksPerSession: number;
  readonly defaultTaskTimeoutMinutes: number;
  readonly pollMinMs: number;
  readonly pollMaxMs: number;
  /** So many polls in a row that fail end a task. */
  readonly pollFailureLimit: number;
}

// For a request that nobody's result depends on.
const cancelBudgetMs = 5_000;

/** Makes the desk. */
export const createTaskDesk = (options: TaskDeskOptions): TaskDesk => {
  const { store, servers, clock, log, newId } = options;
  const ledger = store.ledger<TaskRecord>('mcp-tasks');

  const settle = async (id: string, as: TaskEnd, reason?: string): Promise<boolean> => {
    const taken = await ledger.take(id, { as, reason });
    if (taken) await ledger.update(id, (record) => ({ ...record, sealed: undefined }));
    return taken !== undefined;
  };

  const runner = createTaskRunner({ ...options, ledger, settle });

  /** Tells the server that a task is not wanted; it is let go of whatever the server says. */
  const cancelOnServer = async ({ id, value }: LedgerEntry<TaskRecord>): Promise<void> => {
    const server = servers.get(value.server.toLowerCase());
    try {
      using deadline = startDeadline(clock, cancelBudgetMs);
      using lease = server?.lease() ?? (await server?.leaseConnected({ signal: deadline.signal }));
      if (!lease || identityHashOf(lease.snapshot.entry) !== value.identityHash) return;
      const { taskId } = openHold(store.secrets, id, value.sealed);
      await cancelTask(lease.snapshot, taskId, deadline.signal);
    } catch (error) {
      log.warn(
        { task: id, server: value.server, reason: messageOf(error) },
        'a server could not be told to cancel a task',
      );
    }
  };

  const openOf = (session: string): Promise<LedgerEntry<TaskRecord>[]> => ledger.list({ open: true, owner: session });

  const refusal: TaskDesk['refusal'] = async ({ namespace = '' }) => {
    const own = await openOf(namespace);
    if (own.length >= options.maxTasksPerSession) return failedOutcome('execution_failed', tooMany(own), 'later');
    if ((await ledger.count({ open: true })) < options.maxTasks) return undefined;
    return failedOutcome(
      'execution_failed',
      `Gantry runs ${options.maxTasks} background tasks already, which is the most; try again when one has finished.`,
      'later',
    );
  };

  const begin: TaskDesk['begin'] = async ({ snapshot, tool, args, sentArgs, context, open, task, signal }) => {
    const { name: server, entry, identityHash } = snapshot;
    const { taskId } = task;
    if (typeof taskId !== 'string' || taskId === '')
      return failedOutcome(
        'execution_failed',
        `Server "${server}" runs tool "${shown(tool)}" in the background without saying under which id; its result cannot be had.`,
      );
    const session = context.namespace ?? '';
    const id = `t_${newId()}`;
    const startedAtMs = clock.nowMs();
    const minutes = entry.taskTimeoutMinutes ?? options.defaultTaskTimeoutMinutes;
    const deadlineAtMs = startedAtMs + minutes * 60_000;
    const value: TaskRecord = {
      session,
      server,
      serverId: entry.id,
      identityHash,
      tool,
      arguments: redactArguments(args),
      startedAtMs,
      deadlineAtMs,
      answeredKeys: [],
      asked: open.asked,
      rounds: open.rounds,
      sealed: sealHold(store.secrets, id, { taskId, args, sentArgs, context: toContextHeaders(context) }),
    };
    try {
      const { maxTasks: maxOpen, maxTasksPerSession: maxOpenOfOwner } = options;
      await ledger.put({ id, owner: session, group: entry.id, value }, { maxOpen, maxOpenOfOwner });
    } catch (error) {
      await cancelTask(snapshot, taskId, signal).catch((reason: unknown) =>
        log.warn({ server, reason: messageOf(reason) }, 'a server could not be told to cancel a task'),
      );
      if (!GantryError.is(error) || error.code !== 'limit_reached') throw error;
      return (await refusal(context)) ?? failedOutcome('execution_failed', error.message, 'later');
    }
    runner.follow(id, toTaskState(task).pollIntervalMs);
    const text = [
      `Tool "${shown(tool)}" of server "${server}" started as a background task. task_id: ${id}`,
      `Its result comes to this conversation by itself when it is finished, within ${minutes} minutes; do not call the tool again for it.`,
      `To stop it, call mcp_cancel_task(task_id: "${id}").`,
    ].join('\n');
    return {
      status: 'parked',
      handle: { kind: 'task', id, expiresAt: new Date(deadlineAtMs).toISOString() },
      parts: [{ type: 'text', text }],
    };
  };

  const resume: ResumeCall = async ({ record, continuation, answer, commit, onNeverSent, signal: given }) => {
    const id = record.task ?? '';
    const entry = await ledger.get(id);
    if (!entry || entry.settlement) return failedOutcome('execution_failed', `Task ${id} has ended meanwhile.`);
    const { taskId } = openHold(store.secrets, id, entry.value.sealed);
    using deadline = startDeadline(clock, 30_000, { signal: given });
    const server = servers.get(entry.value.server.toLowerCase());
    using lease = server && (server.lease() ?? (await server.leaseConnected({ signal: deadline.signal })));
    if (!lease) return failedOutcome('execution_failed', `Server "${entry.value.server}" is not configured any more.`);
    if (!(await commit())) return failedOutcome('execution_failed', 'The question was settled meanwhile.');
    const { key } = continuation;
    try {
      await updateTask(
        lease.snapshot,
        taskId,
        Object.fromEntries([[key, toResponse(answer.decision)]]),
        deadline.signal,
      );
    } catch (error) {
      // An answer under a key that was answered is ignored by the server, so it may be sent again (SEP-2663).
      onNeverSent();
      return failedOutcome('execution_failed', `The answer could not be sent: ${messageOf(error)}.`, 'later');
    }
    await ledger.update(id, (task) => ({
      ...task,
      answeredKeys: [...task.answeredKeys, key],
      rounds: [
        ...task.rounds,
        {
          message: record.form.message,
          fields: record.form.fields.map(({ name }) => shown(name)),
          action: answer.decision.action,
          answeredFields: answer.answeredFields,
        },
      ],
    }));
    runner.wake(id);
    return textOutcome(
      `The answer was sent. Task ${id} goes on; its result comes to this conversation when it is finished.`,
    );
  };

  return {
    start: () => runner.start(),
    refusal,
    begin,
    resume,
    list: () => ledger.list({ open: true }),
    cancel: async (id, by) => {
      const entry = await ledger.get(id);
      if (!entry || (by.kind === 'agent' && entry.value.session !== by.session))
        throw new GantryError(
          'task_unknown',
          `There is no task "${shown(id)}" in this conversation. Use the task_id exactly as the result that started it gave it.`,
          { details: { id } },
        );
      if (entry.settlement) return `Task ${id} has already ended: ${entry.settlement.as}.`;
      await cancelOnServer(entry);
      const isMine = await settle(id, 'cancelled');
      return isMine
        ? `Task ${id} (tool "${shown(entry.value.tool)}" of server "${entry.value.server}") is cancelled.`
        : `Task ${id} ended just now by itself.`;
    },
    keepOnly: async (entries, { endsAbsent }) => {
      const byId = new Map(entries.map((entry) => [entry.id, entry]));
      for (const task of await ledger.list({ open: true })) {
        const { value } = task;
        const entry = byId.get(value.serverId);
        if (entry ? hasTasks(entry) && identityHashOf(entry) === value.identityHash : !endsAbsent) continue;
        const why =
          entry && hasTasks(entry) ? 'has another address now' : entry ? 'runs no tasks any more' : 'was removed';
        await cancelOnServer(task);
        const text = `Server "${value.server}" ${why}, so the task was cancelled.`;
        await runner.end(task, 'cancelled', failedOutcome('execution_failed', text));
      }
    },
    [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
  };
};

const tooMany = (running: readonly LedgerEntry<TaskRecord>[]): string => {
  const names = running.map(({ id, value }) => `${id} (${value.server}: ${shown(value.tool)})`).join(', ');
  return `This conversation runs ${running.length} background tasks already, which is the most: ${names}. Wait for one to finish, or cancel one with mcp_cancel_task.`;
};

const shown = (text: string): string => flattenText(text, { maxChars: 100 });
