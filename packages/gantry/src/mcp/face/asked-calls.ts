/**
 * Calls of clients of 2026 that can be asked. What a server asks in the middle of one becomes a round of its request: the client gets the
 * questions as its result and calls again with the answers, while the call goes on waiting.
 */
import type { InputRequests, InputRequiredResult } from '@modelcontextprotocol/server';
import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { abortReason, throwIfAborted } from '../../kernel/abort.ts';
import type { Clock } from '../../kernel/clock.ts';
import { GantryError } from '../../kernel/errors.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { isObject } from '../../kernel/json.ts';
import type { Log } from '../../kernel/log.ts';
import type { OnAsked, PeerQuestion } from '../../tool/context.ts';
import type { CallAnswer, ClientCall, ProgressParams } from './call-tool.ts';
import type { Mailbox } from './mail/mailbox.ts';
import type { GoOn } from './mail/rounds.ts';
import { createRounds, notOpen } from './mail/rounds.ts';
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

/**
 * Serves such calls. A client that is waited for has 15 minutes, and goes on with its call at any process. Disposing cancels the calls that
 * wait.
 */
export interface AskedCalls extends AsyncDisposable {
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
export const createAskedCalls = (options: {
  readonly clock: Clock;
  readonly log: Log;
  readonly sealing: Sealing;
  /** Without it a client has to come back to this process. */
  readonly mailbox?: Mailbox | undefined;
}): AskedCalls => {
  const { clock, log, sealing, mailbox } = options;
  const parked = createParked<WaitingCall>({
    clock,
    mailbox,
    giveUp: ({ running }, reason) => running.controller.abort(reason),
  });
  const ownerOf = ({ client, tool }: AskedRequest): string => JSON.stringify([client ?? null, tool]);
  const contextOf = (client: string | undefined): string => `mcp/${client ?? ''}`;

  const park = async (running: RunningCall, whose: Waiting): Promise<InputRequiredResult> => {
    const asked = Object.fromEntries([...running.open].map((one, index) => [`q${index + 1}`, one]));
    const name = await parked.park({ ...whose, running, asked });
    return {
      resultType: 'input_required',
      inputRequests: Object.fromEntries(
        Object.entries(asked).map(([key, { question }]) => [key, question]),
      ) as unknown as InputRequests,
      requestState: `${prefix}${sealing.seal(name, contextOf(whose.client))}`,
    };
  };

  /** Waits until the call has ended, or asks. */
  const follow = async (
    running: RunningCall,
    whose: Waiting,
    signal: AbortSignal,
  ): Promise<CallAnswer | InputRequiredResult> => {
    // MCP 2026-07-28: closing the response cancels the request; between two requests there is none to close.
    const cancel = (): void => running.controller.abort(abortReason(signal));
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
    try {
      for (;;) {
        if (running.open.size > 0) return await park(running, whose);
        const ended = await Promise.race([running.answer, running.news.promise]);
        if (ended) return ended;
      }
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };

  const goOn: GoOn = async ({ name, owner, said, signal, tell }) => {
    const waiting = parked.take(name, owner);
    if (!waiting) throw notOpen();
    const { running, client } = waiting;
    running.notify = (progress) => tell({ ...progress });
    for (const [key, one] of Object.entries(waiting.asked)) {
      running.open.delete(one);
      give(one, Object.hasOwn(said, key) ? said[key] : undefined);
    }
    return (await follow(running, { client, owner }, signal)) as unknown as JsonObject;
  };
  const rounds = mailbox && createRounds({ mailbox, topic: 'asked', goOn, clock, log });
  const serveRound = rounds?.serve ?? goOn;

  const nameIn = ({ state, client }: AskedRequest): string => {
    try {
      if (typeof state === 'string' && state.startsWith(prefix))
        return sealing.open(state.slice(prefix.length), contextOf(client));
    } catch {
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'The requestState was not made here, or for another client.',
      );
    }
    throw notOpen();
  };

  return {
    serve: async (request) => {
      const { client, state, responses, signal, notify } = request;
      const owner = ownerOf(request);
      if (state === undefined) return await follow(begin(request), { client, owner }, signal);
      const round = {
        name: nameIn(request),
        owner,
        said: responses as JsonObject,
        signal,
        tell: (notice: JsonObject) => notify(notice as unknown as ProgressParams),
      };
      return (await serveRound(round)) as unknown as CallAnswer | InputRequiredResult;
    },
    [Symbol.asyncDispose]: async () => {
      parked[Symbol.dispose]();
      await rounds?.[Symbol.asyncDispose]();
    },
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
