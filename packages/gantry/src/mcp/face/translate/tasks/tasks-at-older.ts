/**
 * Tasks of clients of 2026 at a server of 2025. Such a server runs a tool as a task for whoever asks for that, knows the task in one session,
 * and asks its questions there; so the process that made a task holds it, and serves what its client says about it at any process.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { orAborted, throwIfAborted } from '../../../../kernel/abort.ts';
import type { Clock } from '../../../../kernel/clock.ts';
import { messageOf } from '../../../../kernel/errors.ts';
import { newId } from '../../../../kernel/ids.ts';
import type { JsonObject } from '../../../../kernel/json.ts';
import { isObject } from '../../../../kernel/json.ts';
import type { Log } from '../../../../kernel/log.ts';
import type { ClientSays } from '../../../wire/sessions/client-says.ts';
import { metaKeys } from '../../../wire/sessions/client-says.ts';
import { tasksExtension } from '../../../wire/tasks-extension.ts';
import type { Mailbox } from '../../mail/mailbox.ts';
import type { GoOn, Round } from '../../mail/rounds.ts';
import { createRounds } from '../../mail/rounds.ts';
import type { Sealing } from '../../pass/carried-state.ts';
import { toModernResult, withoutHopMeta, withoutNewer } from '../generations.ts';
import { leaseFor } from '../lease-for.ts';
import { takesPart } from '../takes-part.ts';
import type { Relayed, Visit } from '../relayed.ts';
import type { HeldTask } from './held-task.ts';
import { cancelUnheard, hearLateTask } from './hear-late-task.ts';
import { holdTask } from './held-task.ts';
import { createHeldTasks } from './held-tasks.ts';
import { needsTask } from './needs-task.ts';
import { olderTaskIn, taskIdIn, toNewerTask, unknownTask } from './task-forms.ts';
import type { TaskId } from './task-ids.ts';
import { openTaskId, sealTaskId } from './task-ids.ts';
import { overLink, overSession, resultOf } from './task-way.ts';

/** Serves such tasks. Disposing leaves them to their servers. */
export interface TasksAtOlder extends AsyncDisposable {
  /** Undefined for a request that makes no task and is about none. */
  relay(relayed: Relayed, says: ClientSays): Promise<JsonObject | undefined>;
  /** Tells the state of a task at each change that the server tells of, until the signal aborts. Resolves when the server is heard. */
  watch(of: WatchedTask): Promise<void>;
}

/** A task that a client wants to hear of. */
export interface WatchedTask extends Pick<Visit, 'target' | 'client'> {
  readonly says: ClientSays;
  /** As the client names it. */
  readonly id: string;
  readonly tell: (task: JsonObject) => void;
  readonly signal: AbortSignal;
}

/** What other processes say of a task that they do not hold, as servers do of one that they do not know. */
const notKnown: number = ProtocolErrorCode.InvalidParams;

/** Makes it. */
export const createTasksAtOlder = (parts: {
  readonly sealing: Sealing;
  readonly clock: Clock;
  readonly log: Log;
  /** Without it a client has to come back to this process. */
  readonly mailbox?: Mailbox | undefined;
}): TasksAtOlder => {
  const { sealing, clock, log, mailbox } = parts;
  const tasks = createHeldTasks(clock, mailbox);

  const hold = async (
    { target, client }: Pick<Visit, 'target' | 'client'>,
    { taskId, name }: TaskId,
    held: Pick<Parameters<typeof holdTask>[0], 'way' | 'says' | 'end'>,
  ): Promise<HeldTask> => {
    const task = holdTask({ target, taskId, log, ...held });
    await tasks.hold(name, { task, client, owner: ownerOf({ target, client }, taskId) });
    return task;
  };

  /** Makes the call as a task. What the server answers at once is the result. */
  const call = async (relayed: Relayed, says: ClientSays): Promise<JsonObject> => {
    const { target, client, params, ctx } = relayed;
    const { signal, _meta: meta } = ctx.mcpReq;
    const sent = withoutHopMeta({ ...params, ...(meta && { _meta: meta as JsonObject }) });
    const leased = takesPart(says) ? await leaseFor(target, { client, says, forNotices: true }, signal) : undefined;
    const way = leased ? overSession(leased.session) : overLink(target);
    let made: JsonObject;
    try {
      using late = hearLateTask(clock, signal);
      made = await resultOf(way.request('tools/call', { ...sent, task: {} }), late.signal);
      await cancelUnheard(way, made, { clock, signal });
      throwIfAborted(signal);
    } catch (error) {
      leased?.giveBack('broken');
      throw error;
    }
    const task = olderTaskIn(made);
    if (!task) {
      leased?.giveBack('ended');
      return toModernResult(withoutNewer(made));
    }
    const id = { taskId: task.taskId, name: mailbox ? `${mailbox.address}/${newId()}` : newId() };
    await hold(relayed, id, { way, says, end: leased?.giveBack });
    return { resultType: 'task', ...toNewerTask(task, sealTaskId(sealing, id, contextOf(relayed))) };
  };

  const goOn: GoOn = async ({ name, owner, said, signal, tell }) => {
    const task = tasks.find(name, owner);
    if (!task) throw unknownTask();
    return await serve(task, said as unknown as Said, { signal, tell });
  };
  const rounds = mailbox && createRounds({ mailbox, topic: 'tasks', goOn, clock, log });

  /**
   * Serves a request about a task where it is held. One that nobody holds any more is asked for over the connection that all share, where
   * servers know it whose tasks outlive sessions.
   */
  const about = async (
    visit: Pick<Visit, 'target' | 'client'>,
    id: string,
    said: Said,
    { signal, tell }: Pick<Round, 'signal' | 'tell'>,
  ): Promise<JsonObject> => {
    const known = openTaskId(sealing, id, contextOf(visit));
    const owner = ownerOf(visit, known.taskId);
    const held = tasks.find(known.name, owner);
    if (held) return await serve(held, said, { signal, tell });
    const [process = ''] = known.name.split('/');
    if (rounds && known.name !== known.taskId && process !== mailbox?.address) {
      try {
        return await rounds.serve({ name: known.name, owner, said: said as unknown as JsonObject, signal, tell });
      } catch (error) {
        if (!(error instanceof ProtocolError) || error.code !== notKnown) throw error;
      }
    }
    const way = overLink(visit.target);
    await resultOf(way.request('tasks/get', { taskId: known.taskId }), signal);
    return await serve(await hold(visit, known, { way, says: said.says }), said, { signal, tell });
  };

  return {
    relay: async (relayed, says) => {
      const { method, params, ctx } = relayed;
      const { signal } = ctx.mcpReq;
      // With a state a call goes on, and none begins.
      if (needsTask(relayed) && knowsTasks(ctx.mcpReq.envelope) && ctx.mcpReq.requestState() === undefined)
        return await call(relayed, says);
      if (!method.startsWith('tasks/')) return undefined;
      const id = taskIdIn(params);
      const responses = (ctx.mcpReq.inputResponses ?? {}) as JsonObject;
      const state = await about(relayed, id, { method, says, responses }, { signal, tell: () => {} });
      return { resultType: 'complete', ...state, ...(method === 'tasks/get' && { taskId: id }) };
    },
    watch: async ({ target, client, says, id, tell, signal }) => {
      const heard = Promise.withResolvers<void>();
      const said = { method: 'watch', says, responses: {} };
      const watching = about({ target, client }, id, said, {
        signal,
        tell: (notice) => {
          if (isObject(notice['task'])) tell({ ...notice['task'], taskId: id });
          else heard.resolve();
        },
      });
      watching.catch((error: unknown) => {
        heard.reject(error);
        if (!signal.aborted)
          log.debug({ server: target.name, reason: messageOf(error) }, 'a task is not listened to any more');
      });
      await heard.promise;
    },
    [Symbol.asyncDispose]: async () => {
      tasks[Symbol.dispose]();
      await rounds?.[Symbol.asyncDispose]();
    },
  };
};

/** Whether a request says that its client knows tasks. */
export const knowsTasks = (envelope: object | undefined): boolean => {
  const { [metaKeys.capabilities]: can } = (envelope ?? {}) as Readonly<Record<string, unknown>>;
  const extensions = isObject(can) ? can['extensions'] : undefined;
  return isObject(extensions) && Object.hasOwn(extensions, tasksExtension);
};

/** What a client says about a task. */
interface Said {
  /** One of the protocol, or `watch`. */
  readonly method: string;
  readonly says: ClientSays;
  readonly responses: JsonObject;
}

const serve = async (
  task: HeldTask,
  { method, says, responses }: Said,
  { signal, tell }: Pick<Round, 'signal' | 'tell'>,
): Promise<JsonObject> => {
  task.hears(says);
  switch (method) {
    case 'tasks/get':
      return await task.state(signal);
    case 'tasks/update':
      await task.answer(responses);
      return {};
    case 'tasks/cancel':
      await task.cancel(signal);
      return {};
    default:
      await watch(task, tell, signal);
      return {};
  }
};

const watch = async (task: HeldTask, tell: Round['tell'], signal: AbortSignal): Promise<void> => {
  if (!task.watch) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'The server is not heard about this task.');
  const ended = Promise.withResolvers<never>();
  let isTelling = false;
  let isNews = false;
  const report = async (): Promise<void> => {
    isNews = true;
    // States are told one after the other; of several changes at once the last one counts.
    if (isTelling) return;
    isTelling = true;
    while (isNews) {
      isNews = false;
      tell({ task: await task.state(signal) });
    }
    isTelling = false;
  };
  using _watched = task.watch(() => void report().catch(ended.reject));
  tell({ heard: true });
  await orAborted(ended.promise, signal);
};

const contextOf = ({ target, client }: Pick<Visit, 'target' | 'client'>): string =>
  `task/${target.name}/${client ?? ''}`;

const ownerOf = ({ target, client }: Pick<Visit, 'target' | 'client'>, taskId: string): string =>
  JSON.stringify([target.name, client ?? null, taskId]);
