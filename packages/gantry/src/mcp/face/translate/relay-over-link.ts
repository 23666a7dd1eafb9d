import type { Server } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Clock } from '../../../kernel/clock.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import type { Sealing } from '../pass/carried-state.ts';
import { unwrapState, wrapState } from '../pass/carried-state.ts';
import { askClient } from './ask-client.ts';
import { metaKeys } from '../../wire/sessions/client-says.ts';
import { readHandedBack, toModernResult, withoutHopMeta, withoutNewer } from './generations.ts';
import type { AskOptions } from './relay-to-newer.ts';
import { saysOfOlderClient } from './relay-to-newer.ts';
import type { Relayed } from './relayed.ts';
import { sortQuestions, withOpenQuestions } from '../pass/sort-questions.ts';
import { filtered, tellClient } from './relayed.ts';
import { startSilence } from './silence.ts';
import { callAsTask } from './tasks/call-as-task.ts';
import { needsTask } from './tasks/needs-task.ts';
import { overLink, resultOf } from './tasks/task-way.ts';

// A server that asks again whatever it is told would never end.
const maxRounds = 20;

/**
 * The result of a request of a client of 2025 over the bridge's own connection, which all clients share: for programs. What a program of 2026
 * wants to know is asked over the client's session; one of 2025 asks the bridge, which answers by policy.
 */
export const relayOlderOverLink = async (
  relayed: Relayed,
  server: Server,
  options: AskOptions = {},
): Promise<JsonObject> => {
  const { target, ctx } = relayed;
  const { capabilities } = saysOfOlderClient(server, undefined, options);
  const request = requestOver(
    relayed,
    paramsOf(relayed, target.era === 'modern' ? { [metaKeys.capabilities]: capabilities } : {}),
    options.signal,
  );
  let round: JsonObject = {};
  for (let count = 0; count < maxRounds; count += 1) {
    const result = await request(round);
    const asked = target.era === 'modern' ? readHandedBack(result) : undefined;
    if (!asked) return result;
    round = { ...(await askClient(target, server, asked.requests, ctx)), ...asked.state };
  }
  throw keptAsking(target);
};

/** A request of a client of 2026 over the bridge's own connection. A program of 2026 is told what this client can do, and asks it itself. */
export const relayNewerOverLink = async (
  relayed: Relayed,
  { sealing, clock, log }: { readonly sealing: Sealing; readonly clock: Clock; readonly log: Log },
): Promise<JsonObject> => {
  const { target, client, method, ctx } = relayed;
  if (needsTask(relayed)) {
    const call = callAsTask(overLink(target), paramsOf(relayed, {}), {
      clock,
      mask: target.mask,
      onTrouble: (reason) => log.debug({ server: target.name, reason }, 'a message could not be passed on'),
    });
    using silence = startSilence(target, clock, ctx.mcpReq.signal);
    call.hear(() => silence.broken());
    return toModernResult(withoutNewer(await resultOf(call, silence.signal)));
  }
  const { envelope = {}, inputResponses, requestState } = ctx.mcpReq;
  const context = `pass/${target.name}/${client ?? ''}`;
  const can = (envelope as Readonly<Record<string, unknown>>)[metaKeys.capabilities];
  const request = requestOver(
    relayed,
    paramsOf(relayed, target.era === 'modern' && isObject(can) ? { [metaKeys.capabilities]: can as JsonObject } : {}),
  );
  const state = requestState();
  const carried = unwrapState(sealing, context, state);
  const returned = carried ? carried.requestState : state;
  const responses = { ...(inputResponses as JsonObject | undefined), ...carried?.responses };
  let round: JsonObject = {
    ...(Object.keys(responses).length > 0 && { inputResponses: responses }),
    ...(typeof returned === 'string' && { requestState: returned }),
  };
  for (let count = 0; count < maxRounds; count += 1) {
    const result = await request(round);
    if (target.era !== 'modern') return toModernResult(withoutNewer(filtered(target, method, result)));
    const sorted = sortQuestions(target, result);
    if (!sorted) return readHandedBack(result) ? result : toModernResult(filtered(target, method, result));
    const { open, responses: own } = sorted;
    if (method.startsWith('tasks/')) {
      // A task is answered beside its rounds, and goes on without a word of its client.
      const update = paramsOf(relayed, isObject(can) ? { [metaKeys.capabilities]: can as JsonObject } : {});
      const { taskId } = relayed.params;
      await target.link.request(
        'tasks/update',
        { ...update, taskId, inputResponses: own },
        { signal: ctx.mcpReq.signal },
      );
      return toModernResult(withOpenQuestions(result, sorted) as JsonObject);
    }
    const asked = typeof result['requestState'] === 'string' ? result['requestState'] : undefined;
    if (Object.keys(open).length > 0)
      return {
        ...result,
        inputRequests: open as JsonObject,
        requestState: wrapState(sealing, context, { requestState: asked, responses: own }),
      };
    round = { inputResponses: own, ...(asked !== undefined && { requestState: asked }) };
  }
  throw keptAsking(target);
};

const requestOver =
  (relayed: Relayed, params: JsonObject, signal: AbortSignal = relayed.ctx.mcpReq.signal) =>
  async (round: JsonObject): Promise<JsonObject> => {
    const { target, method, ctx } = relayed;
    const { _meta: meta } = ctx.mcpReq;
    const tell = tellClient(relayed, false);
    const onProgress =
      meta?.progressToken === undefined
        ? undefined
        : (progress: JsonObject): void => tell({ method: 'notifications/progress', params: progress });
    const raw = await target.link.request(method, { ...params, ...round }, { signal, onProgress });
    return isObject(raw) ? (raw as JsonObject) : {};
  };

const paramsOf = ({ params, ctx }: Relayed, own: JsonObject): JsonObject => {
  const { _meta: meta } = ctx.mcpReq;
  const sent = withoutHopMeta({ ...params, ...(meta && { _meta: meta as JsonObject }) });
  if (Object.keys(own).length === 0) return sent;
  return { ...sent, _meta: { ...(isObject(sent['_meta']) ? sent['_meta'] : {}), ...own } };
};

const keptAsking = (target: PassTarget): ProtocolError =>
  new ProtocolError(ProtocolErrorCode.InternalError, `Server "${target.name}" kept asking; it was given up.`);
