/**
 * Requests of a client of 2025 to a program of 2025 that runs for its session alone: everything is said in the same words on both sides, and
 * what the program asks is asked of the client on the stream of the request that is open.
 */
import type { Server } from '@modelcontextprotocol/server';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { askOne } from './ask-client.ts';
import { answeredResult } from '../../wire/sessions/answered-result.ts';
import type { ServerRequest } from '../../wire/sessions/exchange.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import type { LeasedSession } from '../../wire/sessions/older-sessions.ts';
import type { Relayed } from './relayed.ts';
import { capabilityFor, declined, filtered, paramsOf, takesQuestion, tellClient } from './relayed.ts';
import { cancelUnheard, hearLateTask } from './tasks/hear-late-task.ts';
import { overSession } from './tasks/task-way.ts';
import type { Silence } from './silence.ts';
import { startSilence } from './silence.ts';

/**
 * Sends a request to the program, and gives its result as the program wrote it. `silences` are those of all requests of the session that run:
 * the program waits in one of them for what the client answers, and does not say in which.
 */
export const relayToProgram = async (
  relayed: Relayed,
  {
    server,
    leased,
    silences,
    clock,
  }: {
    readonly server: Server;
    readonly leased: LeasedSession;
    readonly silences: Set<Silence>;
    readonly clock: Clock;
  },
): Promise<JsonObject> => {
  const { target, method, params, ctx } = relayed;
  const { signal, _meta: meta } = ctx.mcpReq;
  const sent = paramsOf(relayed);
  const exchange = leased.session.request(method, sent, { wantsProgress: meta?.progressToken !== undefined });
  using late = isObject(params['task']) ? hearLateTask(clock, signal) : undefined;
  using silence = startSilence(target, clock, late?.signal ?? signal);
  silences.add(silence);
  const tell = tellClient(relayed, true);
  exchange.hear((notice) => {
    silence.broken();
    tell(notice);
  });
  try {
    const result = await answeredResult(exchange, {
      signal: silence.signal,
      answer: async (asked) => {
        using held = new DisposableStack();
        for (const one of silences) held.use(one.hold());
        return await answerFor(target, server, asked, (what, about) => askOne(what, about, ctx));
      },
    });
    if (late) await cancelUnheard(overSession(leased.session), result, { clock, signal });
    return filtered(target, method, result);
  } finally {
    silences.delete(silence);
    exchange.abandon();
    leased.giveBack('ended');
  }
};

/** What the client answers a question of the server, as far as it can be asked, and policy lets it hear of it. */
export const answerFor = async (
  target: PassTarget,
  server: Server,
  { method, params }: ServerRequest,
  ask: (method: string, params: unknown) => Promise<JsonObject>,
): Promise<JsonObject> => {
  const capability = capabilityFor(method);
  const can = server.getClientCapabilities() ?? {};
  if (capability === undefined || !(capability in can))
    throw new GantryError('usage', `The client cannot be asked for ${method.slice(0, 60)}.`);
  if (capability === 'elicitation' && !takesQuestion(can, target, params)) return declined;
  return await ask(method, params);
};
