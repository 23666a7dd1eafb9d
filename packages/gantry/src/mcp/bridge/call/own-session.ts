import { GantryError } from '../../../kernel/errors.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Progress } from '../../../tool/context.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import type { ClientSays } from '../../wire/sessions/client-says.ts';
import { answeredResult } from '../../wire/sessions/answered-result.ts';
import type { LeasedSession } from '../../wire/sessions/older-sessions.ts';

/** A session with a server of 2025 that one call has for itself. Disposing gives it back. */
export interface OwnSession extends Disposable {
  /**
   * Sends `tools/call`; gives the result as the server wrote it. What the server asks meanwhile is answered by `answer`, side by side.
   * @throws {GantryError} `execution_failed` with `details.rpc` for an error of the server's own; `server_unreachable`; the signal's reason.
   */
  call(
    params: JsonObject,
    options: {
      readonly signal: AbortSignal;
      readonly onProgress: (progress: Progress) => void;
      readonly answer: (method: string, params: unknown) => Promise<JsonObject>;
    },
  ): Promise<JsonObject>;
}

/**
 * Opens sessions for calls whose clients can be asked, which servers of 2025 are told in the handshake. Undefined when the client has as
 * many as it may have; its call is one of those that share the connection then.
 */
export type OpenOwnSession = (
  target: Pick<PassTarget, 'leaseSession'>,
  from: {
    readonly client: string | undefined;
    /** The session of the client, where it has one. */
    readonly connection: string | undefined;
    readonly says: ClientSays;
  },
  signal: AbortSignal,
) => Promise<OwnSession | undefined>;

/**
 * The opener. A program of 2025 does not say in which of its calls it asks, so each copy of it runs one such call at a time; calls of a client
 * that follow one another are made by the same copy.
 */
export const openOwnSession: OpenOwnSession = async (target, { client, connection, says }, signal) => {
  let leased: LeasedSession;
  try {
    leased = await target.leaseSession({ client, says, session: connection, isForCall: true }, signal);
  } catch (error) {
    if (GantryError.is(error) && error.code === 'limit_reached') return undefined;
    throw error;
  }
  let how: 'ended' | 'broken' = 'ended';
  return {
    call: async (params, { signal: ending, onProgress, answer }) => {
      const exchange = leased.session.request('tools/call', params, { wantsProgress: true, isTimed: false });
      exchange.hear(({ method, params: said }) => {
        if (method === 'notifications/progress' && isProgress(said)) onProgress(said);
      });
      how = 'broken';
      try {
        const result = await answeredResult(exchange, {
          signal: ending,
          answer: ({ method, params: about }) => answer(method, about),
        });
        how = 'ended';
        return result;
      } catch (error) {
        // An error of the server's own is an answer as any other.
        if (GantryError.is(error) && isObject(error.details['rpc'])) how = 'ended';
        throw error;
      } finally {
        exchange.abandon();
      }
    },
    [Symbol.dispose]: () => leased.giveBack(how),
  };
};

const isProgress = (params: JsonObject): params is JsonObject & Progress => typeof params['progress'] === 'number';
