/**
 * Calls of clients of 2026 that can be asked. What a server asks in the middle of one becomes a round of its request: the client gets the
 * questions as its result and calls again with the answers, while the call goes on waiting.
 */
import type { InputRequests, InputRequiredResult } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { abortReason, throwIfAborted } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isObject } from '../../kernel/json.ts';
import type { OnAsked, PeerQuestion } from '../../tool/context.ts';
import type { CallAnswer, ClientCall } from './call-tool.ts';
import type { Waiting } from './parked.ts';
import { createParked } from './parked.ts';
import type { Sealing } from './pass/carried-state.ts';

/** One request of such a call: the first, or a later one with answers. */
export interface AskedRequest {
  readonly client: string | undefined;
  /** The tool that is called; a client must call again just as it called. */
  readonly tool: string;
  /** The `requestState` that came with it. */
  readonly state: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  readonly notify: ClientCall['notify'];
  /** Makes the call. */
  begin(call: Pick<ClientCall, 'signal' | 'notify'> & { readonly onAsked: OnAsked }): Promise<CallAnswer>;
}

/** Serves such calls. A client that is waited for has 15 minutes. Disposing cancels the calls that wait. */
export interface AskedCalls extends Disposable {
  /**
   * The result of the call, or what the client is to answer first.
   * @throws {ProtocolError} invalid params for a state that is not of a call which waits for this client.
   */
  serve(request: AskedRequest): Promise<CallAnswer | InputRequiredResult>;
}

interface OpenQuestion extends PromiseWithResolvers<JsonObject> {
  readonly question: PeerQuestion;
}

interface RunningCall {
  readonly controller: AbortController;
  readonly answer: Promise<CallAnswer>;
  /** What is asked and not answered. */
  readonly open: Set<OpenQuestion>;
  /** Resolves when something is asked. */
  news: PromiseWithResolvers<void>;
  /** Tells the client, on the request that it has open. */
  notify: ClientCall['notify'];
}

interface WaitingCall extends Waiting {
  readonly running: RunningCall;
  readonly asked: Readonly<Record<string, OpenQuestion>>;
}

const prefix = 'gantry.asked.';

/** Makes an empty set. */
export const createAskedCalls = ({
  clock,
  sealing,
}: {
  readonly clock: Clock;
  readonly sealing: Sealing;
}): AskedCalls => {
  const parked = createParked<WaitingCall>(clock, ({ running }) =>
    running.controller.abort(new GantryError('cancelled', 'The client did not answer in time.')),
  );
  const ownerOf = ({ client, tool }: AskedRequest): string => JSON.stringify([client ?? null, tool]);
  const contextOf = ({ client }: AskedRequest): string => `mcp/${client ?? ''}`;

  const park = (running: RunningCall, request: AskedRequest): InputRequiredResult => {
    const asked = Object.fromEntries([...running.open].map((one, index) => [`q${index + 1}`, one]));
    const { client } = request;
    try {
      const name = parked.park({ client, owner: ownerOf(request), running, asked });
      return {
        resultType: 'input_required',
        inputRequests: Object.fromEntries(
          Object.entries(asked).map(([key, { question }]) => [key, question]),
        ) as unknown as InputRequests,
        requestState: `${prefix}${sealing.seal(name, contextOf(request))}`,
      };
    } catch (error) {
      running.controller.abort(error);
      throw new ProtocolError(ProtocolErrorCode.InternalError, messageOf(error));
    }
  };

  const reclaim = (request: AskedRequest): WaitingCall => {
    const { state } = request;
    let name: string | undefined;
    try {
      if (typeof state === 'string' && state.startsWith(prefix))
        name = sealing.open(state.slice(prefix.length), contextOf(request));
    } catch {
      throw invalid('The requestState was not made here, or for another client.');
    }
    const found = name === undefined ? undefined : parked.take(name, ownerOf(request));
    if (found) return found;
    throw invalid(
      'The call that asked is not open any more: it was answered, waited too long, or was of another process. Call the tool again without requestState.',
    );
  };

  return {
    serve: async (request) => {
      const { state, responses, signal } = request;
      let running: RunningCall;
      if (state === undefined) running = begin(request);
      else {
        const waiting = reclaim(request);
        ({ running } = waiting);
        running.notify = request.notify;
        for (const [key, one] of Object.entries(waiting.asked)) {
          running.open.delete(one);
          give(one, Object.hasOwn(responses, key) ? responses[key] : undefined);
        }
      }
      // MCP 2026-07-28: closing the response cancels the request; between two requests there is none to close.
      const cancel = (): void => running.controller.abort(abortReason(signal));
      if (signal.aborted) cancel();
      else signal.addEventListener('abort', cancel, { once: true });
      try {
        for (;;) {
          if (running.open.size > 0) return park(running, request);
          const ended = await Promise.race([running.answer, running.news.promise]);
          if (ended) return ended;
        }
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
    [Symbol.dispose]: () => parked[Symbol.dispose](),
  };
};

const begin = (request: AskedRequest): RunningCall => {
  const state: Omit<RunningCall, 'answer'> = {
    controller: new AbortController(),
    open: new Set(),
    news: Promise.withResolvers(),
    notify: request.notify,
  };
  const onAsked: OnAsked = async (question, signal) => {
    throwIfAborted(signal);
    const one: OpenQuestion = { question, ...Promise.withResolvers<JsonObject>() };
    const takeBack = (): void => {
      state.open.delete(one);
      one.reject(abortReason(signal));
    };
    signal.addEventListener('abort', takeBack, { once: true });
    state.open.add(one);
    state.news.resolve();
    state.news = Promise.withResolvers();
    try {
      return await one.promise;
    } finally {
      signal.removeEventListener('abort', takeBack);
    }
  };
  const answer = request.begin({
    signal: state.controller.signal,
    onAsked,
    notify: (params) => state.notify(params),
  });
  // A call that ends while its client is away is told when that comes back, if it does.
  answer.catch(() => undefined);
  return Object.assign(state, { answer });
};

/** What the client leaves out counts as taken back. */
const give = ({ question, resolve, reject }: OpenQuestion, said: unknown): void => {
  if (isObject(said)) resolve(said as JsonObject);
  else if (question.method === 'elicitation/create') resolve({ action: 'cancel' });
  else reject(new GantryError('execution_failed', 'the client gave none'));
};

const invalid = (message: string): ProtocolError => new ProtocolError(ProtocolErrorCode.InvalidParams, message);
