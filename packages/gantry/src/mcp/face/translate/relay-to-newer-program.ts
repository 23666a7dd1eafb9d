/**
 * Requests of clients of 2026 to a program of 2026: the same words on another way. The program is told what its client can do, and asks it in
 * its results; what nobody may answer is declined here.
 */
import type { ServerContext } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { startDeadline, throwIfAborted } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { noAnswerWithin } from '../../wire/no-answer.ts';
import type { ClientSays } from '../../wire/sessions/client-says.ts';
import { wholeSaysInMeta } from '../../wire/sessions/client-says.ts';
import type { Exchange } from '../../wire/sessions/exchange.ts';
import { tasksExtension } from '../../wire/tasks-extension.ts';
import type { Sealing } from '../pass/carried-state.ts';
import { unwrapState, wrapState } from '../pass/carried-state.ts';
import { sortQuestions } from '../pass/sort-questions.ts';
import { withoutTaskQuestions } from '../pass/task-questions.ts';
import { readHandedBack, toModernResult } from './generations.ts';
import type { NewerRequest } from './newer-requests.ts';
import type { Relayed } from './relayed.ts';
import { filtered, ownerOf, paramsOf, tellClient } from './relayed.ts';
import { hearLateTask } from './tasks/hear-late-task.ts';
import { resultOf } from './tasks/task-way.ts';

// A server that asks again whatever it is told would never end.
const maxRounds = 20;

/** Makes what relays them by `send`. */
export const createRelayToNewerProgram =
  ({
    sealing,
    send,
    clock,
  }: {
    readonly sealing: Sealing;
    readonly send: (request: NewerRequest) => Exchange;
    readonly clock: Clock;
  }) =>
  async (relayed: Relayed): Promise<JsonObject> => {
    const { target, client, method, params, ctx } = relayed;
    const { _meta: meta, inputResponses, requestState } = ctx.mcpReq;
    const context = `pass/${target.name}/${client ?? ''}`;
    const says = saysInEnvelope(ctx);
    const sent = paramsOf(relayed);
    // Nobody is waited for between the rounds.
    const { signal } = ctx.mcpReq;
    using late = method === 'tools/call' && knowsTasks(says) ? hearLateTask(clock, signal) : undefined;
    using deadline = startDeadline(clock, target.maxCallTimeoutMs, {
      signal: late?.signal ?? signal,
      onExpiry: () => noAnswerWithin(target.name, target.maxCallTimeoutMs),
    });
    const ask = async (what: string, about: JsonObject, isOwn = false): Promise<JsonObject> => {
      const exchange = send({
        target,
        client,
        says,
        method: what,
        params: about,
        wantsProgress: !isOwn && meta?.progressToken !== undefined,
        owner: ownerOf(relayed, ctx),
      });
      if (!isOwn) exchange.hear(tellClient(relayed, says.logLevel !== undefined));
      return await resultOf(exchange, deadline.signal);
    };
    const state = requestState();
    const carried = unwrapState(sealing, context, state);
    const returned = carried ? carried.requestState : state;
    const responses = { ...(inputResponses as JsonObject | undefined), ...carried?.responses };
    let round: JsonObject = {
      ...(Object.keys(responses).length > 0 && { inputResponses: responses }),
      ...(typeof returned === 'string' && { requestState: returned }),
    };
    const { taskId } = params;
    const about = method.startsWith('tasks/') && typeof taskId === 'string' ? taskId : undefined;
    for (let count = 0; count < maxRounds; count += 1) {
      const answered = await ask(method, { ...sent, ...round });
      if (signal.aborted && method === 'tools/call' && typeof answered['taskId'] === 'string')
        await ask('tasks/cancel', { taskId: answered['taskId'] }, true);
      throwIfAborted(signal);
      const { carrier: result, declined } = withoutTaskQuestions(target, answered, { isRound: true, taskId: about });
      // A task is answered beside its rounds, and goes on without a word of its client.
      for (const { taskId: asking, responses: own } of declined)
        await ask('tasks/update', { taskId: asking, inputResponses: own }, true);
      const sorted = sortQuestions(target, result);
      if (!sorted) return readHandedBack(result) ? result : toModernResult(filtered(target, method, result));
      const { open, responses: own } = sorted;
      const asked = typeof result['requestState'] === 'string' ? result['requestState'] : undefined;
      if (Object.keys(open).length > 0)
        return {
          ...result,
          inputRequests: open as JsonObject,
          requestState: wrapState(sealing, context, { requestState: asked, responses: own }),
        };
      round = { inputResponses: own, ...(asked !== undefined && { requestState: asked }) };
    }
    throw new ProtocolError(ProtocolErrorCode.InternalError, `Server "${target.name}" kept asking; it was given up.`);
  };

const knowsTasks = ({ capabilities: { extensions } }: ClientSays): boolean =>
  isObject(extensions) && Object.hasOwn(extensions, tasksExtension);

const saysInEnvelope = ({ mcpReq }: ServerContext): ClientSays => wholeSaysInMeta(mcpReq.envelope ?? {});
