/**
 * Conversations with the agent: one turn at a time in each, of all processes on one store, on record before anything runs. A user's message
 * ends the turn that runs in its session (it is answered together with it) and scheduled runs of this process; what the agent is told of itself (results that come late) waits
 * for its turn, and becomes a turn that never counts as the user's.
 */
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { Log } from '../../kernel/log.ts';
import type { ConversationHead, ConversationLog } from '../../memory/conversation-log.ts';
import type { StoredTurn, UserTurn } from '../../memory/conversation-turn.ts';
import { isOfPerson } from '../../memory/conversation-turn.ts';
import type { RunResult, TaskRun } from '../../schedule/run-action.ts';
import type { Store } from '../../store/store.ts';
import type { PlatformPermissions, Tier } from '../../tool/context.ts';
import type { Notify } from '../../tool/ports.ts';
import type { ContextSources, ReferredTo } from '../context/build-context.ts';
import type { RunLoop } from '../loop/run-loop.ts';
import type { TierThresholds } from '../models/choose-tier.ts';
import { chooseTier } from '../models/choose-tier.ts';
import type { TierModels } from '../models/tier-models.ts';
import type { LetGo } from './let-go.ts';
import type { OnSessionEvent, SessionEvent, TurnReply } from './session-events.ts';
import { createAnswerTurn, isSuperseded, superseded, toReply } from './answer-turn.ts';
import { checkMessage } from './check-message.ts';
import { createScheduledRuns } from './scheduled-runs.ts';
import { createSessionInterrupts } from './session-interrupts.ts';
import { createSharedEvents } from './shared-events.ts';
import { createSessionQueue } from './session-queue.ts';
import { createTurnGuard } from './turn-guard.ts';

/** A message of a user. */
export interface UserMessage {
  /** Id of the session, without `session/`. */
  readonly sessionId: string;
  readonly text: string;
  /** Files of the shared folder that come with it, by path; at most 20. The model is given `media_1`, … for them. */
  readonly attachments?: readonly string[] | undefined;
  /** Messages that it is about, by their ids; at most 20. The model is given `ref_1`, … for them, and tools get the ids. */
  readonly refersTo?: readonly ReferredTo[] | undefined;
  readonly workspace?: string | undefined;
  readonly speaker?: string | undefined;
  /** What the surface's platform lets the agent do where this was said; absent where it has no permission model. */
  readonly permissions?: PlatformPermissions | undefined;
  /** Default: chosen by the message. A named tier stays for the whole turn. */
  readonly tier?: Tier | undefined;
  /** Ends the turn. */
  readonly signal?: AbortSignal | undefined;
  readonly onEvent?: OnSessionEvent | undefined;
}

/** Conversations with the agent. */
export interface AgentSessions extends AsyncDisposable {
  /** The model of the balanced tier; undefined where none is configured. */
  readonly model: string | undefined;
  /**
   * Answers a message.
   * @throws {GantryError} `invalid_arguments`, `model_missing`, `model_failed`, `timeout`, `cancelled`, `stopped`
   */
  send(message: UserMessage): Promise<TurnReply>;
  /** Tells a session of a result that comes late: resolves when it is on record, and the agent answers behind it. */
  readonly notify: Notify;
  /** Runs a scheduled task as a turn of its own. Says `busy` while a user is being answered. */
  runTask(run: TaskRun): Promise<RunResult>;
  /**
   * Hears everything that happens in a session, also turns that nobody sent, and those that run in other processes on the store: these in
   * batches, from half a second after it began. Returns the way to stop.
   */
  subscribe(sessionId: string, listener: OnSessionEvent): () => void;
  /** Ends the turn that runs in a session, here or in another process on the store; true when there was one. */
  interrupt(sessionId: string): Promise<boolean>;
  list(): Promise<readonly ConversationHead[]>;
  /** The last turns of a session, oldest first. */
  turns(sessionId: string, limit: number): Promise<readonly StoredTurn[]>;
  /**
   * Deletes a conversation; true when there was one. The turn that runs in it ends first, and what it has set going ({@link LetGo}); what was
   * still to be told to it is dropped, until somebody speaks in it again.
   */
  forget(sessionId: string): Promise<boolean>;
}

/** What sessions work with. */
export interface AgentSessionsOptions {
  readonly models: TierModels;
  readonly runLoop: RunLoop;
  readonly conversations: ConversationLog;
  /** Of all processes that answer in the same sessions. */
  readonly store: Pick<Store, 'leases' | 'keyValue'>;
  readonly context: ContextSources;
  readonly systemPrompt: string;
  readonly thresholds: TierThresholds;
  /** Turns of the conversation that the model sees. */
  readonly maxContextTurns: number;
  /** Keeps failed turns with their error. */
  readonly persistErrorTurns: boolean;
  /** Told what is not for a conversation, such as what comes for a subagent. */
  readonly notifyOther?: Notify | undefined;
  /** Ends what a conversation that is forgotten has set going; default nothing. */
  readonly letGo?: LetGo | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

const noUsage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };

/** Makes the sessions of an agent. */
export const createAgentSessions = (options: AgentSessionsOptions): AgentSessions => {
  const { models, conversations, clock, log } = options;
  const queue = createSessionQueue();
  const interrupts = createSessionInterrupts({ keyValue: options.store.keyValue<true>('session-interrupts'), clock });
  /** Conversations that were forgotten and in which nobody has spoken since. */
  const forgotten = options.store.keyValue<true>('sessions-forgotten');
  const guard = createTurnGuard({
    leases: options.store.leases,
    holders: options.store.keyValue('session-holders'),
    reasonToEnd: async (namespace, number) => {
      if (await interrupts.take(namespace)) return stoppedByUser;
      const recent = await conversations.recentTurns(namespace, turnsLookedBack);
      return recent.some((turn) => turn.number > number && isOfPerson(turn)) ? superseded : undefined;
    },
    clock,
    log,
  });
  const listeners = new Map<string, Set<OnSessionEvent>>();
  const elsewhere = createSharedEvents({ space: options.store.keyValue('session-events'), clock, log });
  /** Notices that are being answered, or wait for it. */
  const noticesInHand = new Set<string>();
  let answering = 0;

  const publish = (namespace: string, event: SessionEvent, own?: OnSessionEvent): void => {
    own?.(event);
    for (const listener of listeners.get(namespace) ?? []) listener(event);
    elsewhere.tell(namespace, event);
  };

  const answer = createAnswerTurn({ ...options, publish });
  const scheduled = createScheduledRuns({ queue, conversations, answer, isBusy: () => answering > 0, clock });

  const send: AgentSessions['send'] = async (message) => {
    const { sessionId, text, attachments = [], refersTo, workspace, speaker, signal: outer, onEvent } = message;
    checkMessage(message);
    // Refused before anything is on record: a conversation that cannot be answered is none.
    models.get(message.tier ?? 'balanced');
    const namespace = `session/${sessionId}`;
    answering += 1;
    scheduled.makeWay();
    try {
      return await queue.run(
        namespace,
        async (inner): Promise<TurnReply> => {
          const signal = outer ? AbortSignal.any([inner, outer]) : inner;
          const asked: UserTurn = {
            role: 'user',
            origin: 'person',
            text,
            ...(attachments.length > 0 && { attachments }),
            permissions: message.permissions,
            speaker,
            atMs: clock.nowMs(),
          };
          if (await forgotten.get(namespace)) await forgotten.delete(namespace);
          const number = await conversations.append(namespace, asked, { workspace });
          try {
            const result = await guard.run(
              namespace,
              number,
              signal,
              (guarded) =>
                answer({
                  namespace,
                  workspace,
                  asked,
                  refersTo,
                  number,
                  tier: message.tier ?? chooseTier(text, options.thresholds),
                  isTierPinned: message.tier !== undefined,
                  receivesLateResults: true,
                  signal: guarded,
                  onEvent,
                }),
              () => publish(namespace, { type: 'waiting', reason: waitingText }, onEvent),
            );
            const reply = toReply(sessionId, result);
            publish(namespace, { type: 'turn-end', ...reply }, onEvent);
            return reply;
          } catch (error) {
            if (!isSuperseded(signal) && error !== superseded) throw error;
            return { sessionId, reply: '', status: 'superseded', toolCalls: [], usage: noUsage, model: '' };
          }
        },
        { isUrgent: true, reason: superseded },
      );
    } finally {
      answering -= 1;
    }
  };

  const notify: Notify = async (notice) => {
    const { namespace, kind, text } = notice;
    const sessionId = /^session\/([^/]+)$/.exec(namespace)?.[1];
    if (sessionId === undefined) {
      if (options.notifyOther) await options.notifyOther(notice);
      else log.warn({ namespace, kind }, 'a result came late for a run that is over; it is kept in working memory');
      return;
    }
    if (await forgotten.get(namespace)) {
      log.info({ namespace, kind }, 'a result came late for a conversation that was forgotten');
      return;
    }
    // The same notice may come again after a crash; then it is on record, and perhaps nobody has answered it.
    const recent = await conversations.recentTurns(namespace, noticesLookedBack);
    const known = recent.find((turn) => turn.role === 'user' && turn.origin === 'notice' && turn.text === text);
    const asked: UserTurn = { role: 'user', origin: 'notice', text, atMs: known?.atMs ?? clock.nowMs() };
    const number = known?.number ?? (await conversations.append(namespace, asked));
    if (kind === 'interrupted' || !models.isConfigured) {
      if (!known) publish(namespace, { type: 'notice', text });
      return;
    }
    const id = `${namespace}#${number}`;
    if (noticesInHand.has(id) || (known && isAnswered(recent, number))) return;
    noticesInHand.add(id);
    void queue
      .run(namespace, async (signal) => {
        const workspace = (await conversations.head(namespace))?.workspace;
        const result = await guard.run(namespace, number, signal, (guarded) =>
          answer({
            namespace,
            workspace,
            asked,
            number,
            tier: 'balanced',
            isTierPinned: false,
            receivesLateResults: true,
            signal: guarded,
          }),
        );
        publish(namespace, { type: 'turn-end', ...toReply(sessionId, result) });
      })
      .catch((error: unknown) => {
        // A user's turn that came behind it has seen it, and answers for it.
        if (error !== superseded) log.warn({ namespace, reason: messageOf(error) }, 'a late result was not answered');
      })
      .finally(() => noticesInHand.delete(id));
  };

  /** Ends the turn that another process runs; true when there was one. */
  const interruptElsewhere = async (namespace: string): Promise<boolean> =>
    (await guard.isBusy(namespace)) && interrupts.leave(namespace);

  return {
    model: models.isConfigured ? models.get('balanced').settings.modelId : undefined,
    send,
    notify,
    runTask: scheduled.run,
    subscribe: (sessionId, listener) => {
      const namespace = `session/${sessionId}`;
      const heard = listeners.get(namespace) ?? new Set();
      listeners.set(namespace, heard.add(listener));
      const listening = elsewhere.listen(namespace, listener);
      return () => {
        listening[Symbol.dispose]();
        heard.delete(listener);
        if (heard.size === 0) listeners.delete(namespace);
      };
    },
    interrupt: async (sessionId) => {
      const namespace = `session/${sessionId}`;
      return queue.abort(namespace, stoppedByUser) || interruptElsewhere(namespace);
    },
    list: async () => (await conversations.list()).filter(({ namespace }) => namespace.startsWith('session/')),
    turns: (sessionId, limit) => conversations.recentTurns(`session/${sessionId}`, limit),
    forget: async (sessionId) => {
      const namespace = `session/${sessionId}`;
      const known = await conversations.head(namespace);
      if (known) await forgotten.set(namespace, true, { ttlMs: forgottenMs });
      queue.abortAll(namespace, forgottenByUser);
      // Behind the turns that end for it, which still write what they came to.
      return queue.run(
        namespace,
        async () => {
          // A message that was waiting has been put on record meanwhile.
          if (known) await forgotten.set(namespace, true, { ttlMs: forgottenMs });
          await interruptElsewhere(namespace);
          await options.letGo?.(namespace);
          return conversations.forget(namespace);
        },
        { isUrgent: true, reason: forgottenByUser },
      );
    },
    [Symbol.asyncDispose]: async () => {
      await queue.close(new GantryError('stopped', 'Gantry is stopping, so the turn was ended.'));
      await elsewhere[Symbol.asyncDispose]();
    },
  };
};

const waitingText = 'another process has this conversation; it is waited for, up to 15 s if it has died';
const noticesLookedBack = 20;
const turnsLookedBack = 10;
const stoppedByUser = new GantryError('cancelled', 'The turn was stopped.');
const forgottenByUser = new GantryError('cancelled', 'The conversation was forgotten, so its turn was ended.');
/** Longer than any background work of a conversation takes. */
const forgottenMs = 7 * 24 * 3_600_000;

/** Somebody has spoken since: the agent to its end, or a person whose turn has seen it. */
const isAnswered = (turns: readonly StoredTurn[], number: number): boolean =>
  turns.some(
    (turn) => turn.number > number && (isOfPerson(turn) || (turn.role === 'assistant' && turn.status === 'done')),
  );
