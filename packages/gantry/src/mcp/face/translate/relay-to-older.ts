/**
 * Requests of clients of 2026 to a server of 2025. What the server asks over its session in the middle of a request becomes a round of that
 * request: the client gets the questions as its result and calls again with the answers, while the server goes on waiting.
 */
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Log } from '../../../kernel/log.ts';
import type { Sealing } from '../pass/carried-state.ts';
import { askingMethods } from '../../wire/sessions/asking-methods.ts';
import type { ClientSays } from '../../wire/sessions/client-says.ts';
import type { Notice } from '../../wire/sessions/exchange.ts';
import type { LeasedSession } from '../../wire/sessions/older-sessions.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import type { Mailbox } from '../mail/mailbox.ts';
import type { GoOn } from '../mail/rounds.ts';
import { createRounds, notOpen } from '../mail/rounds.ts';
import { toInputRequests, toModernResult, withoutNewer } from './generations.ts';
import { leaseFor } from './lease-for.ts';
import type { ParkedExchange } from './parked-exchanges.ts';
import { createParkedExchanges } from './parked-exchanges.ts';
import { parkedName, parkedState } from './parked-state.ts';
import type { Relayed } from './relayed.ts';
import { filtered, paramsOf, tellClient } from './relayed.ts';
import { startSilence } from './silence.ts';
import type { CallAsTask } from './tasks/call-as-task.ts';
import { callAsTask } from './tasks/call-as-task.ts';
import { needsTask } from './tasks/needs-task.ts';
import { overSession } from './tasks/task-way.ts';
import { withoutRefused } from './without-refused.ts';

/** Gives the results of servers in the words of 2026. Disposing gives up what waits for clients. */
export interface RelayToOlder extends AsyncDisposable {
  /** Undefined when as many copies of a program run for the client as may; its request is one of those that share the connection then. */
  relay(relayed: Relayed, says: ClientSays): Promise<JsonObject | undefined>;
}

/** One request of a client, the first or a later one, while it is open. */
interface OpenRequest {
  readonly says: ClientSays;
  readonly signal: AbortSignal;
  readonly tell: (notice: Notice) => void;
}

/** Makes the relay. */
export const createRelayToOlder = (parts: {
  readonly sealing: Sealing;
  readonly clock: Clock;
  readonly log: Log;
  /** Without it a client has to come back to this process. */
  readonly mailbox?: Mailbox | undefined;
}): RelayToOlder => {
  const { sealing, clock, log, mailbox } = parts;
  const parked = createParkedExchanges(clock, mailbox);

  /** Waits until the server has answered, or asks; what the client was asked is answered first. */
  const follow = async (
    waiting: Omit<ParkedExchange, 'asked'>,
    { says, signal, tell }: OpenRequest,
    answer?: () => Promise<void>,
  ): Promise<JsonObject> => {
    const { exchange, leased, target, method, client } = waiting;
    using silence = startSilence(target, clock, signal);
    exchange.hear((notice) => {
      silence.broken();
      tell(notice);
    });
    let outcome: 'parked' | 'ended' | 'broken' = 'broken';
    try {
      await answer?.();
      for (;;) {
        const step = await exchange.next(silence.signal);
        if ('result' in step) {
          outcome = 'ended';
          return toModernResult(withoutNewer(filtered(target, method, step.result)));
        }
        const open = await withoutRefused(waiting, step.asked, askingMethods.has(method) ? says : { capabilities: {} });
        if (open.length === 0) continue;
        const asked = Object.fromEntries(open.map((request, index) => [`q${index + 1}`, request]));
        outcome = 'parked';
        const name = await parked.park({ ...waiting, asked });
        return {
          resultType: 'input_required',
          inputRequests: toInputRequests(Object.entries(asked)),
          requestState: parkedState(sealing, name, contextOf(target, client)),
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

  /** Sends a request, over a session that ends with it. */
  const begin = (relayed: Relayed, session: LeasedSession): Pick<ParkedExchange, 'exchange' | 'leased'> => {
    const { target, method, place, ctx } = relayed;
    const sent = paramsOf(relayed);
    const wantsProgress = ctx.mcpReq._meta?.progressToken !== undefined;
    const kept = place?.keep();
    if (needsTask(relayed)) {
      const exchange = callAsTask(overSession(session.session), sent, {
        clock,
        mask: target.mask,
        wantsProgress,
        onTrouble: (reason) => log.debug({ server: target.name, reason }, 'a message could not be passed on'),
      });
      return { exchange, leased: withPlace(endedBehind(session, exchange), kept) };
    }
    const exchange = session.session.request(method, sent, { wantsProgress, isTimed: false });
    return { exchange, leased: withPlace(session, kept) };
  };

  const goOn: GoOn = async ({ name, owner, said, signal, tell }) => {
    const waiting = parked.take(name, owner);
    if (!waiting) throw notOpen();
    const { responses, says } = said as unknown as Said;
    const request = { says, signal, tell: (notice: Notice) => tell({ ...notice }) };
    return await follow(waiting, request, () => answerAll(waiting, responses));
  };
  const rounds = mailbox && createRounds({ mailbox, topic: 'parked', goOn, clock, log });
  const serveRound = rounds?.serve ?? goOn;

  return {
    relay: async (relayed, says) => {
      const { target, client, method, params, ctx } = relayed;
      const { signal } = ctx.mcpReq;
      // A client must call again just as it called.
      const owner = JSON.stringify([target.name, client ?? null, method, params['name'] ?? params['uri'] ?? null]);
      const tell = tellClient(relayed, says.logLevel !== undefined);
      const state = ctx.mcpReq.requestState();
      if (state !== undefined) {
        const said: Said = { says, responses: (ctx.mcpReq.inputResponses ?? {}) as JsonObject };
        return await serveRound({
          name: parkedName(sealing, state, contextOf(target, client)),
          owner,
          said: said as unknown as JsonObject,
          signal,
          tell: (notice) => tell(notice as unknown as Notice),
        });
      }
      const session = await leaseFor(target, { client, says, isForCall: askingMethods.has(method) }, signal);
      if (!session) return undefined;
      return await follow({ ...begin(relayed, session), target, method, client, owner }, { says, signal, tell });
    },
    [Symbol.asyncDispose]: async () => {
      parked[Symbol.dispose]();
      await rounds?.[Symbol.asyncDispose]();
    },
  };
};

/** A parked call has its place until the server is done with it. */
const withPlace = ({ session, giveBack }: LeasedSession, place: Disposable | undefined): LeasedSession => ({
  session,
  giveBack: (how) => {
    place?.[Symbol.dispose]();
    giveBack(how);
  },
});

/** A task is cancelled in its session before that ends. */
const endedBehind = ({ session, giveBack }: LeasedSession, call: CallAsTask): LeasedSession => ({
  session,
  giveBack: (how) => void call.settled().then(() => giveBack(how)),
});

const contextOf = ({ name }: PassTarget, client: string | undefined): string => `pass/${name}/${client ?? ''}`;

/** What a later request says. */
interface Said {
  readonly says: ClientSays;
  readonly responses: JsonObject;
}

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
