import { createHash } from 'node:crypto';
import { fromContextHeaders } from '../../../invoke/context-headers.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import type { LedgerEntry } from '../../../store/ledger.ts';
import { flattenText } from '../../../text/flatten.ts';
import type { CallContext } from '../../../tool/context.ts';
import type { Outcome } from '../../../tool/outcome.ts';
import { failedOutcome } from '../../../tool/outcome.ts';
import type { DownstreamTool } from '../../wire/manage-messages.ts';
import type { PassAttachments } from '../attachments/passthrough.ts';
import { toAskedServer } from '../call/can-hand-back.ts';
import { toolNamed } from '../call/find-tool.ts';
import { toResponse } from '../call/rounds.ts';
import { withHint } from '../call/with-hint.ts';
import { withNote } from '../call/with-note.ts';
import type { DecideQuestion } from '../elicitation/decide-question.ts';
import type { OpenCall } from '../elicitation/open-call.ts';
import { createOpenCall } from '../elicitation/open-call.ts';
import type { ElicitationPolicy } from '../elicitation/policy.ts';
import type { QuestionDesk } from '../questions/question-desk.ts';
import type { MapResult } from '../result/result-mapper.ts';
import type { InputRequest } from '../result/unfinished.ts';
import type { Snapshot } from '../server/managed-server.ts';
import type { TaskEnd, TaskHold, TaskRecord } from './task-record.ts';
import { getTask, updateTask } from './task-requests.ts';

/** A task that goes on, with what changed about it, or one that has ended. */
export type Polled =
  | { readonly isOver: false; readonly pollIntervalMs: number | undefined; readonly change: Partial<TaskRecord> }
  | { readonly isOver: true; readonly as: TaskEnd; readonly outcome: Outcome };

/** What polling works with. */
export interface PollTaskOptions {
  readonly mapResult: MapResult;
  readonly passAttachments: PassAttachments;
  readonly decide: DecideQuestion;
  readonly questions: Pick<QuestionDesk, 'handBack' | 'stateOf'>;
  readonly policyOf: (snapshot: Snapshot) => ElicitationPolicy;
}

/** Asks the server for a task once, and answers what it asks. Throws what the connection throws. */
export type PollTask = (
  entry: LedgerEntry<TaskRecord>,
  hold: TaskHold,
  snapshot: Snapshot,
  signal: AbortSignal,
) => Promise<Polled>;

/** Makes the poll. */
export const createPollTask = (options: PollTaskOptions): PollTask => {
  const { mapResult, passAttachments, decide, questions } = options;

  /** The answer to one question of a task; undefined while it waits for whoever it was handed back to. */
  const answerOf = async (
    [key, { method, params }]: [string, InputRequest],
    { id, value }: LedgerEntry<TaskRecord>,
    hold: TaskHold,
    {
      snapshot,
      open,
      tool,
      context,
      signal,
    }: { snapshot: Snapshot; open: OpenCall; tool: DownstreamTool; context: CallContext; signal: AbortSignal },
  ): Promise<JsonObject | undefined> => {
    // Nothing else was offered to the server.
    if (method !== 'elicitation/create') return { action: 'cancel' };
    const questionId = questionIdOf(id, hold.taskId, key);
    const state = await questions.stateOf(questionId);
    if (state === 'waiting') return undefined;
    if (state === 'over') return { action: 'cancel' };
    const canHandBack =
      open.policy.mode === 'handback' && context.answersQuestions === true && value.session.startsWith('session/');
    const decision = await decide(params, { calls: [open], canHandBack, signal });
    if (decision.action !== 'hand-back') return toResponse(decision);
    const requests = Object.fromEntries([[key, { method, params }]]);
    const answer = await questions.handBack({
      server: toAskedServer(snapshot),
      tool,
      open,
      question: { key, state: { requests, responses: {}, requestState: undefined }, decision },
      args: hold.args,
      sentArgs: hold.sentArgs,
      context,
      startedAtMs: value.startedAtMs,
      task: { id, questionId },
    });
    return 'status' in answer ? undefined : toResponse(answer);
  };

  return async (entry, hold, snapshot, signal) => {
    const { value } = entry;
    const task = await getTask(snapshot, hold.taskId, signal);
    const context = fromContextHeaders(hold.context);
    const tool = toolNamed(snapshot.surface.tools, value.tool) ?? { name: value.tool, inputSchema: { type: 'object' } };
    const open = createOpenCall({
      server: value.server,
      tool: tool.name,
      toolDescription: tool.description,
      inputSchema: tool.inputSchema,
      args: hold.args,
      namespace: value.session,
      policy: options.policyOf(snapshot),
      earlier: { asked: value.asked, rounds: value.rounds },
    });
    switch (task.status) {
      case 'working':
      case 'unknown':
        return goesOn(task.pollIntervalMs, { statusMessage: shown(task.statusMessage) });
      case 'input_required': {
        const responses: [string, JsonObject][] = [];
        const asking = { snapshot, open, tool, context, signal };
        for (const request of Object.entries(task.requests)) {
          // A key is answered at most once, so repeats in later polls are skipped (SEP-2663).
          if (value.answeredKeys.includes(request[0])) continue;
          const response = await answerOf(request, entry, hold, asking);
          if (response) responses.push([request[0], response]);
        }
        if (responses.length > 0) await updateTask(snapshot, hold.taskId, Object.fromEntries(responses), signal);
        return goesOn(task.pollIntervalMs, {
          statusMessage: shown(task.statusMessage),
          answeredKeys: [...value.answeredKeys, ...responses.map(([key]) => key)],
          asked: open.asked,
          rounds: open.rounds,
        });
      }
      case 'completed': {
        const passed = await passAttachments({
          server: value.server,
          entry: snapshot.entry,
          tokens: snapshot.connection.tokens,
          tool: tool.name,
          args: hold.args,
          alreadySent: hold.sentArgs,
          context,
          signal,
        });
        const outcome = await mapResult(task.result, {
          server: value.server,
          tool: tool.name,
          context,
          attachments: snapshot.entry.attachments,
          receive: passed.receive,
        });
        return ended('completed', withNote(withHint(outcome, tool, hold.args, context), open, context));
      }
      case 'failed':
        return ended(
          'failed',
          withNote(
            failedOutcome(
              'execution_failed',
              `Server "${value.server}" gave up the task with error ${task.code ?? 'unknown'}: ${flattenText(task.message, { maxChars: 1_000 })}`,
            ),
            open,
            context,
          ),
        );
      case 'cancelled':
        return ended(
          'cancelled',
          failedOutcome(
            'execution_failed',
            `Server "${value.server}" cancelled the task${because(task.statusMessage)}.`,
          ),
        );
    }
  };
};

/** The same for the same question in every process, so that it is handed back once. */
const questionIdOf = (id: string, taskId: string, key: string): string =>
  `q_${createHash('sha256')
    .update(JSON.stringify([id, taskId, key]))
    .digest('hex')
    .slice(0, 32)}`;

const goesOn = (pollIntervalMs: number | undefined, change: Partial<TaskRecord>): Polled => ({
  isOver: false,
  pollIntervalMs,
  change,
});

const ended = (as: TaskEnd, outcome: Outcome): Polled => ({ isOver: true, as, outcome });

const shown = (text: string | undefined): string | undefined => text && flattenText(text, { maxChars: 300 });

const because = (text: string | undefined): string =>
  text === undefined ? '' : `: ${flattenText(text, { maxChars: 300 })}`;
