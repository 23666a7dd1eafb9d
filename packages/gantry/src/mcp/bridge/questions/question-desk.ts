/**
 * Where the questions of servers wait for the calling agent or a person. A question costs a row in the ledger and nothing in memory: the
 * call behind it is over, and what it needs to go on is in the row, sealed. Whoever settles the row first, in whatever process, sends
 * the call on; everybody else is told that it was answered.
 */
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { NewId } from '../../../kernel/ids.ts';
import type { Log } from '../../../kernel/log.ts';
import type { LedgerEntry } from '../../../store/ledger.ts';
import type { Store } from '../../../store/store.ts';
import { cutText } from '../../../text/cut.ts';
import { flattenText } from '../../../text/flatten.ts';
import { redactText } from '../../../text/scrub-strictly.ts';
import type { CallContext } from '../../../tool/context.ts';
import { toContextHeaders } from '../../../invoke/context-headers.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';
import { policyHashOf } from '../call/can-hand-back.ts';
import type { HandedBack } from '../call/rounds.ts';
import type { ConfiguredEntry } from '../server/managed-server.ts';
import type { OpenCall } from '../elicitation/open-call.ts';
import { redactArguments } from '../elicitation/redact.ts';
import { createAnswering } from './answering.ts';
import type { Answerer, CheckedAnswer, GivenAnswer } from './check-answer.ts';
import { checkedAnswer } from './check-answer.ts';
import { openContinuation, sealContinuation } from './continuation.ts';
import { handBackText } from './hand-back-text.ts';
import type { Continuation, QuestionRecord } from './question-record.ts';
import { interruptedText, noOpenQuestion, settledRefusal } from './question-refusals.ts';
import { createUpkeep } from './upkeep.ts';

/** A call whose server asks, as the desk keeps it. */
export interface AskedCall {
  readonly server: { readonly name: string; readonly id: string; readonly policyHash: string };
  readonly tool: DownstreamTool;
  readonly open: OpenCall;
  readonly question: HandedBack;
  readonly args: Continuation['args'];
  readonly sentArgs: Continuation['sentArgs'];
  readonly context: CallContext;
  readonly startedAtMs: number;
  /** The background task that asks: nobody waits, so the session is told of the question, under an id that is the same each time. */
  readonly task?: { readonly id: string; readonly questionId: string } | undefined;
}

/** Sends an answered call on. `commit` is asked right before anything is sent; on false, nothing may be. */
export type ResumeCall = (resumed: {
  readonly record: QuestionRecord;
  readonly continuation: Continuation;
  readonly answer: CheckedAnswer;
  readonly commit: () => Promise<boolean>;
  /** Called after a commit when certainly nothing reached the server. */
  readonly onNeverSent: () => void;
  readonly signal: AbortSignal | undefined;
}) => Promise<Outcome>;

/** What the user of a session said last, its own words aside from what the agent says for itself; undefined when there is none. */
export type LastUserTurn = (session: string) => Promise<{ readonly atMs: number; readonly text: string } | undefined>;

/** Tells a session something that nobody of it waits for. */
export type TellSession = (late: {
  readonly namespace: string;
  readonly kind: 'question' | 'interrupted';
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly outcome: Outcome;
}) => Promise<void>;

/** A call that went on after its question was answered. */
export interface AnsweredCall {
  readonly server: string;
  readonly tool: string;
  readonly outcome: Outcome;
}

/** Open and settled questions of a bridge. */
export interface QuestionDesk extends AsyncDisposable {
  /** Finds calls that a crash interrupted, and begins to look after what expires. */
  start(): Promise<void>;
  /** Where a question stands; `waiting` also while its answer is being sent, `over` when nobody will answer it any more. */
  stateOf(id: string): Promise<'unknown' | 'waiting' | 'over'>;
  /** Hands a question back: how the call ended for now, or why the question is declined instead. */
  handBack(asked: AskedCall): Promise<Outcome | { readonly action: 'decline'; readonly reason: string }>;
  /**
   * Answers or declines a question and gives how its call went on: its result, or the next question. A task only says that it goes on.
   * @throws {GantryError} `invalid_arguments` when it cannot be answered or the answer does not fit; `execution_failed` when the call
   * could not go on. Both leave an open question open.
   */
  answer(id: string, given: GivenAnswer, by: Answerer, signal?: AbortSignal): Promise<AnsweredCall>;
  /** Open questions, oldest first. */
  list(): Promise<readonly LedgerEntry<QuestionRecord>[]>;
  /** Cancels the questions of servers that have another policy or address now and, where asked, of those that are not among the entries. */
  keepOnly(entries: readonly ConfiguredEntry[], options: { readonly endsAbsent: boolean }): Promise<void>;
  /** Cancels the open questions of a session whose run has ended. */
  release(session: string): Promise<void>;
}

/** What a desk works with. */
export interface QuestionDeskOptions {
  readonly store: Pick<Store, 'ledger' | 'keyValue' | 'secrets'>;
  readonly clock: Clock;
  readonly log: Log;
  readonly newId: NewId;
  readonly resume: ResumeCall;
  readonly tell: TellSession;
  /** Without it no session has a user, and no decision is taken from an agent. */
  readonly lastUserTurn?: LastUserTurn | undefined;
  readonly maxPendingQuestions: number;
  readonly maxPendingQuestionsPerSession: number;
}

/** Owner of the questions of calls without a session. */
const noSession = 'operator';

/** Makes the desk of a bridge. */
export const createQuestionDesk = (options: QuestionDeskOptions): QuestionDesk => {
  const { store, clock, log, newId, resume, tell, lastUserTurn } = options;
  const ledger = store.ledger<QuestionRecord>('mcp-questions');
  const answering = createAnswering({ keyValue: store.keyValue('mcp-answering'), clock, log });

  const forgetSealed = (id: string, change: Partial<QuestionRecord>): Promise<unknown> =>
    ledger.update(id, (record) => ({ ...record, ...change, sealed: undefined }));

  const notifyInterrupted = async (entry: LedgerEntry<QuestionRecord>): Promise<void> => {
    const { session, server, call, task } = entry.value;
    // An answer to a task may be sent twice, so the question is simply open again.
    if (task !== undefined) {
      await ledger.reopen(entry.id);
      return;
    }
    // Only a conversation has somebody to tell; what is told twice is better than what is never told.
    if (session?.startsWith('session/')) {
      const text = interruptedText(entry);
      await tell({
        namespace: session,
        kind: 'interrupted',
        id: entry.id,
        server,
        tool: call.tool,
        outcome: { status: 'done', parts: [{ type: 'text', text }] },
      });
    }
    await forgetSealed(entry.id, { notifiedAtMs: clock.nowMs() });
  };

  const upkeep = createUpkeep({
    ledger,
    clock,
    log,
    isAlive: answering.isAlive,
    onExpired: ({ id }) => forgetSealed(id, {}),
    onInterrupted: notifyInterrupted,
  });

  const cancel = async (entries: readonly LedgerEntry<QuestionRecord>[], reason: string): Promise<void> => {
    for (const { id } of entries) if (await ledger.take(id, { as: 'cancelled', reason })) await forgetSealed(id, {});
  };

  const handBack: QuestionDesk['handBack'] = async (asked) => {
    const { server, tool, open, question, args, sentArgs, context, startedAtMs, task } = asked;
    const { form, settled } = question.decision;
    const id = task?.questionId ?? `q_${newId()}`;
    const session = context.namespace;
    const ttlMs = open.policy.handbackTtlMinutes * 60_000;
    const expiresAtMs = clock.nowMs() + ttlMs;
    const continuation: Continuation = {
      tool: tool.name,
      args,
      sentArgs,
      key: question.key,
      state: question.state,
      settled,
      context: toContextHeaders(context),
      asked: open.asked,
      rounds: open.rounds,
    };
    try {
      const turn = session === undefined ? undefined : await lastUserTurn?.(session);
      const value: QuestionRecord = {
        session,
        server: server.name,
        serverId: server.id,
        policyHash: server.policyHash,
        call: {
          tool: tool.name,
          toolDescription: tool.description && flattenText(tool.description, { maxChars: 300 }),
          arguments: redactArguments(args),
          startedAtMs,
          round: open.rounds.length + 1,
          earlierRounds: open.rounds,
        },
        triggeredBy: turn && { atMs: turn.atMs, userExcerpt: cutText(redactText(turn.text), 500) },
        task: task?.id,
        form,
        sealed: sealContinuation(store.secrets, id, continuation),
      };
      const { maxPendingQuestions: maxOpen, maxPendingQuestionsPerSession } = options;
      const maxOpenOfOwner = session === undefined ? undefined : maxPendingQuestionsPerSession;
      await ledger.put(
        { id, owner: session ?? noSession, group: server.id, expiresAtMs, value },
        { maxOpen, maxOpenOfOwner },
      );
    } catch (error) {
      // Another process has handed it back just now.
      if (task && GantryError.is(error) && error.code === 'record_exists') return parked(id, expiresAtMs, '');
      if (GantryError.is(error) && error.code === 'limit_reached')
        return {
          action: 'decline',
          reason: 'too many questions are open already; answer or decline one of them first',
        };
      log.error({ server: server.name, err: error }, 'a question could not be recorded, so it was declined');
      return { action: 'decline', reason: 'the question could not be recorded' };
    }
    upkeep.expiresAt(expiresAtMs);
    const text = handBackText({
      id,
      server: server.name,
      tool: tool.name,
      form,
      settledNames: Object.keys(settled),
      minutesLeft: Math.round(ttlMs / 60_000),
    });
    const outcome = parked(id, expiresAtMs, text);
    if (task && session !== undefined)
      await tell({ namespace: session, kind: 'question', id, server: server.name, tool: tool.name, outcome }).catch(
        (error: unknown) =>
          log.error({ question: id, reason: messageOf(error) }, 'a session could not be told of a question'),
      );
    return outcome;
  };

  const find = async (id: string, by: Answerer): Promise<LedgerEntry<QuestionRecord>> => {
    const entry = await ledger.get(id);
    // A question of a call without a session is for a person alone.
    const isTheirs = by.kind === 'person' || (by.session !== undefined && entry?.value.session === by.session);
    if (!entry || !isTheirs) throw noOpenQuestion(id);
    const refusal = settledRefusal(entry, clock.nowMs());
    if (refusal) throw refusal;
    return entry;
  };

  const answer: QuestionDesk['answer'] = async (id, given, by, signal) => {
    const entry = await find(id, by);
    const { value: record } = entry;
    const continuation = openContinuation(store.secrets, id, record.sealed);
    const checked = await checkedAnswer({ form: record.form, settled: continuation.settled }, given, by, async () => {
      const turn = record.session === undefined ? undefined : await lastUserTurn?.(record.session);
      return turn !== undefined && turn.atMs > entry.createdAtMs;
    });
    await using stack = new AsyncDisposableStack();
    let isMine = false;
    let isUnsent = false;
    const commit = async (): Promise<boolean> => {
      stack.use(await answering.begin(id));
      const as = checked.decision.action === 'accept' ? 'answered' : 'declined';
      isMine = (await ledger.take(id, { as })) !== undefined;
      return isMine;
    };
    const onNeverSent = (): void => void (isUnsent = true);
    const outcome = await resume({ record, continuation, answer: checked, commit, onNeverSent, signal });
    if (!isMine) {
      await find(id, by);
      throw stillOpen(outcome);
    }
    if (isUnsent && (await ledger.reopen(id))) throw stillOpen(outcome);
    await forgetSealed(id, { endedAtMs: clock.nowMs() });
    upkeep.purgeSoon();
    // The session that asked did not see a person answer.
    if (by.kind === 'person' && record.session !== undefined && record.task === undefined)
      await tell({
        namespace: record.session,
        kind: 'question',
        id,
        server: record.server,
        tool: record.call.tool,
        outcome,
      }).catch((error: unknown) => {
        log.error({ question: id, reason: messageOf(error) }, 'a session could not be told how its call went on');
      });
    return { server: record.server, tool: record.call.tool, outcome };
  };

  return {
    start: () => upkeep.start(),
    stateOf: async (id) => {
      const entry = await ledger.get(id);
      if (!entry) return 'unknown';
      const { settlement } = entry;
      if (!settlement) return (entry.expiresAtMs ?? Infinity) > clock.nowMs() ? 'waiting' : 'over';
      return settlement.as === 'answered' || settlement.as === 'declined' ? 'waiting' : 'over';
    },
    handBack,
    answer,
    list: () => ledger.list({ open: true }),
    keepOnly: async (wanted, { endsAbsent }) => {
      const hashes = new Map(wanted.map((entry) => [entry.id, policyHashOf(entry)]));
      const gone = (await ledger.list({ open: true })).filter(({ value }) => {
        const now = hashes.get(value.serverId);
        return now === undefined ? endsAbsent : now !== value.policyHash;
      });
      await cancel(gone, 'its server was removed, or its entry changed');
    },
    release: async (session) =>
      cancel(await ledger.list({ open: true, owner: session }), 'the run that asked has ended'),
    [Symbol.asyncDispose]: () => upkeep[Symbol.asyncDispose](),
  };
};

const parked = (id: string, expiresAtMs: number, text: string): Outcome => ({
  status: 'parked',
  handle: { kind: 'question', id, expiresAt: new Date(expiresAtMs).toISOString() },
  parts: [{ type: 'text', text }],
});

const stillOpen = (outcome: Outcome): GantryError => {
  const why = outcome.status === 'failed' ? outcome.failure.message : 'The call could not go on.';
  return new GantryError('execution_failed', `${why} The question stays open.`, { retry: 'later' });
};
