/**
 * Requests of clients of 2026 to a server of 2025. What the server asks over its session in the middle of a request becomes a round of that
 * request: the client gets the questions as its result and calls again with the answers, while the server goes on waiting.
 */
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Sealing } from '../pass/carried-state.ts';
import type { ClientSays } from '../../wire/sessions/client-says.ts';
import type { Exchange, ServerRequest } from '../../wire/sessions/exchange.ts';
import { toModernResult, withoutHopMeta } from './generations.ts';
import type { ParkedExchange, ParkedExchanges } from './parked-exchanges.ts';
import type { Relayed } from './relayed.ts';
import { capabilityFor, declined, filtered, takesQuestion, tellClient } from './relayed.ts';
import { startSilence } from './silence.ts';

/** Whether a client of 2026 can be asked or told anything in the middle of a request. */
export const takesPart = ({ capabilities, logLevel }: ClientSays): boolean =>
  Object.keys(capabilities).length > 0 || logLevel !== undefined;

/** Makes the relay; it gives the results of servers in the words of 2026. */
export const createRelayToOlder =
  (parts: {
    readonly parked: ParkedExchanges;
    readonly sealing: Sealing;
    readonly clock: Clock;
  }): ((relayed: Relayed, says: ClientSays) => Promise<JsonObject>) =>
  async (relayed, says) => {
    const { target, client, method, params, ctx } = relayed;
    const { signal, _meta: meta } = ctx.mcpReq;
    // A client must call again just as it called.
    const owner = JSON.stringify([target.name, client ?? null, method, params['name'] ?? params['uri'] ?? null]);
    const context = `pass/${target.name}/${client ?? ''}`;
    const state = ctx.mcpReq.requestState();
    const parked = state === undefined ? undefined : reclaim(parts, state, context, owner);
    const leased = parked?.leased ?? (await target.leaseSession({ client, says }, signal));
    const sent = withoutHopMeta({ ...params, ...(meta && { _meta: meta as JsonObject }) });
    const exchange =
      parked?.exchange ??
      leased.session.request(method, sent, { wantsProgress: meta?.progressToken !== undefined, isTimed: false });
    using silence = startSilence(target, parts.clock, signal);
    const tell = tellClient(relayed, says.logLevel !== undefined);
    exchange.hear((notice) => {
      silence.broken();
      tell(notice);
    });
    let outcome: 'parked' | 'ended' | 'broken' = 'broken';
    try {
      if (parked) await answerAll(parked, ctx.mcpReq.inputResponses ?? {});
      for (;;) {
        const step = await exchange.next(silence.signal);
        if ('result' in step) {
          outcome = 'ended';
          return toModernResult(filtered(target, method, step.result));
        }
        const open = await withoutRefused(relayed, exchange, step.asked, says);
        if (open.length === 0) continue;
        const asked = Object.fromEntries(open.map((request, index) => [`q${index + 1}`, request]));
        const name = parts.parked.park({ exchange, leased, asked, client, owner });
        outcome = 'parked';
        return {
          resultType: 'input_required',
          inputRequests: Object.fromEntries(
            Object.entries(asked).map(([key, { method: wanted, params: about }]) => [
              key,
              { method: wanted, params: about ?? {} },
            ]),
          ),
          requestState: `${prefix}${parts.sealing.seal(name, context)}`,
        };
      }
    } catch (error) {
      // An error of the server's own is an answer as any other.
      if (GantryError.is(error) && isObject(error.details['rpc'])) outcome = 'ended';
      throw error;
    } finally {
      if (outcome !== 'parked') {
        exchange.abandon();
        leased.giveBack(outcome);
      }
    }
  };

const prefix = 'gantry.parked.';

const reclaim = (
  { parked, sealing }: { readonly parked: ParkedExchanges; readonly sealing: Sealing },
  state: unknown,
  context: string,
  owner: string,
): ParkedExchange => {
  let found: ParkedExchange | undefined;
  try {
    if (typeof state === 'string' && state.startsWith(prefix))
      found = parked.take(sealing.open(state.slice(prefix.length), context), owner);
  } catch {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      'The requestState was not made here, or for another client.',
    );
  }
  if (found) return found;
  throw new ProtocolError(
    ProtocolErrorCode.InvalidParams,
    'The request that asked is not open any more: it was answered, waited too long, or was of another process. Send the request again without requestState.',
  );
};

/** Gives the server what the client says; what it leaves out counts as taken back. */
const answerAll = async (
  { exchange, asked }: ParkedExchange,
  responses: Readonly<Record<string, unknown>>,
): Promise<void> => {
  for (const [key, { id, method }] of Object.entries(asked)) {
    const said = Object.hasOwn(responses, key) ? responses[key] : undefined;
    if (isObject(said)) await exchange.answer(id, { result: said as JsonObject });
    else if (method === 'elicitation/create') await exchange.answer(id, { result: { action: 'cancel' } });
    else await exchange.answer(id, { error: { code: -1, message: 'The client gave no answer.' } });
  }
};

/** Answers what the client must not or cannot be asked; gives the rest. */
const withoutRefused = async (
  { target, method }: Relayed,
  exchange: Exchange,
  asked: readonly ServerRequest[],
  says: ClientSays,
): Promise<ServerRequest[]> => {
  const open: ServerRequest[] = [];
  for (const request of asked) {
    const capability = capabilityFor(request.method);
    if (!roundMethods.has(method) || capability === undefined || !(capability in says.capabilities))
      await exchange.answer(request.id, {
        error: { code: -32_601, message: `The client cannot be asked for ${request.method.slice(0, 60)} here.` },
      });
    else if (capability === 'elicitation' && !takesQuestion(says.capabilities, target, request.params))
      await exchange.answer(request.id, { result: declined });
    else open.push(request);
  }
  return open;
};

// MCP 2026-07-28: only these requests may have rounds.
const roundMethods: ReadonlySet<string> = new Set(['tools/call', 'prompts/get', 'resources/read']);
