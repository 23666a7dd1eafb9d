/**
 * Requests of a client of 2025 to a program of 2025 that runs for its session alone: everything is said in the same words on both sides, and
 * what the program asks is asked of the client on the stream of the request that is open.
 */
import type { Server } from '@modelcontextprotocol/server';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import { askOne } from './ask-client.ts';
import type { Exchange, ServerRequest } from '../../wire/sessions/exchange.ts';
import { withoutHopMeta } from './generations.ts';
import type { LeasedSession } from '../../wire/sessions/older-sessions.ts';
import type { Relayed } from './relayed.ts';
import { capabilityFor, declined, filtered, tellClient } from './relayed.ts';
import { startSilence } from './silence.ts';

/** Sends a request to the program, and gives its result as the program wrote it. */
export const relayToProgram = async (
  relayed: Relayed,
  { server, leased, clock }: { readonly server: Server; readonly leased: LeasedSession; readonly clock: Clock },
): Promise<JsonObject> => {
  const { target, method, params, ctx } = relayed;
  const { signal, _meta: meta } = ctx.mcpReq;
  const sent = withoutHopMeta({ ...params, ...(meta && { _meta: meta as JsonObject }) });
  const exchange = leased.session.request(method, sent, { wantsProgress: meta?.progressToken !== undefined });
  using silence = startSilence(target, clock, signal);
  const tell = tellClient(relayed, true);
  exchange.hear((notice) => {
    silence.broken();
    tell(notice);
  });
  try {
    for (;;) {
      const step = await exchange.next(silence.signal);
      if ('result' in step) return filtered(target, method, step.result);
      // They are asked side by side; a request may end before all of them are answered.
      for (const asked of step.asked) {
        const held = silence.hold();
        void answer(relayed, server, exchange, asked).finally(() => held[Symbol.dispose]());
      }
    }
  } finally {
    exchange.abandon();
    leased.giveBack('ended');
  }
};

const answer = async (
  { target, ctx }: Relayed,
  server: Server,
  exchange: Exchange,
  { id, method, params }: ServerRequest,
): Promise<void> => {
  const capability = capabilityFor(method);
  try {
    const can = server.getClientCapabilities() ?? {};
    if (capability === undefined || !(capability in can))
      throw new GantryError('usage', `The client cannot be asked for ${method.slice(0, 60)}.`);
    const isRefused = capability === 'elicitation' && target.isDeclined(params);
    await exchange.answer(id, { result: isRefused ? declined : await askOne(method, params, ctx) });
  } catch (error) {
    const { code, message } = rpcOf(error);
    await exchange.answer(id, { error: { code, message } }).catch(() => undefined);
  }
};

const rpcOf = (error: unknown): { readonly code: number; readonly message: string } => ({
  code: isObject(error) && typeof error['code'] === 'number' ? error['code'] : -32_603,
  message: messageOf(error),
});
