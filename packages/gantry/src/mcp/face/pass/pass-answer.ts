import { GantryError } from '../../../kernel/errors.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import type { PassTarget } from '../../wire/pass-port.ts';
import type { Sealing } from './carried-state.ts';
import { wrapState } from './carried-state.ts';
import { eventTexts, messageEvent } from './event-texts.ts';

/** An answer of a server, and the request that it answers. */
export interface PassAnswer {
  readonly target: PassTarget;
  readonly message: Readonly<Record<string, unknown>> | undefined;
  readonly context: string;
  readonly sealing: Sealing;
  readonly signal: AbortSignal;
  readonly response: Response;
  readonly upstreamSession: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** Stands for a message that the client does not get. */
const dropped: unique symbol = Symbol('dropped');
type Dropped = typeof dropped;

type Members = Readonly<Record<string, unknown>>;

/**
 * The body of the answer for the client: as the server wrote it, but for tools that filters hide and questions that nobody may answer.
 * `held` is let go of when the body has ended.
 * @throws what reading an answer throws that is no stream.
 */
export const answerBody = async (
  answer: PassAnswer,
  held: Disposable,
): Promise<ReadableStream<Uint8Array> | string | null> => {
  const { response } = answer;
  if (!isStream(response)) {
    using _ended = held;
    // A text is written in one piece, without a stream on either side.
    const text = await wholeText(answer);
    return text === '' ? null : text;
  }
  const { body } = response;
  if (!body) {
    held[Symbol.dispose]();
    return null;
  }
  const texts = fromEvents(answer, body);
  const encoder = new TextEncoder();
  return new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      try {
        const next = await texts.next();
        if (next.done) {
          held[Symbol.dispose]();
          controller.close();
        } else controller.enqueue(encoder.encode(next.value));
      } catch (error) {
        held[Symbol.dispose]();
        controller.error(error);
      }
    },
    cancel: async () => {
      await texts.return(undefined);
      held[Symbol.dispose]();
    },
  });
};

const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.includes('text/event-stream') ?? false;

async function* fromEvents(answer: PassAnswer, body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  for await (const { text, data } of eventTexts(body)) {
    if (!needsReading(answer, data)) {
      yield text;
      continue;
    }
    const parsed = parseJson(data);
    const said = parsed.ok && isObject(parsed.value) ? await withPolicy(answer, parsed.value) : undefined;
    if (said === dropped) continue;
    yield said === undefined ? text : messageEvent(said);
  }
}

const wholeText = async (answer: PassAnswer): Promise<string> => {
  const text = await answer.response.text();
  const parsed = needsReading(answer, text) ? parseJson(text) : undefined;
  const said = parsed?.ok && isObject(parsed.value) ? await withPolicy(answer, parsed.value) : undefined;
  return said === undefined || said === dropped ? text : said;
};

/** Looking for a word is much cheaper than reading every message, and nearly none has it. */
const needsReading = ({ target, message }: PassAnswer, text: string): boolean =>
  text.includes('elicitation/create') || (target.hasFilters && message?.['method'] === 'tools/list');

/** The message with what policy changes about it; undefined leaves it as it is. */
const withPolicy = async (answer: PassAnswer, message: Members): Promise<string | Dropped | undefined> => {
  const { target } = answer;
  const { method, params, result } = message;
  if (method === 'elicitation/create') {
    if (!target.isDeclined(params)) return undefined;
    await decline(answer, message['id']);
    return dropped;
  }
  if (!isObject(result)) return undefined;
  if (Array.isArray(result['tools']) && target.hasFilters)
    return JSON.stringify({ ...message, result: { ...result, tools: allowedOf(target, result['tools']) } });
  if (result['resultType'] === 'input_required') return await withoutDeclined(answer, message, result);
  return undefined;
};

const allowedOf = (target: PassTarget, tools: readonly unknown[]): unknown[] =>
  tools.filter((tool) => isObject(tool) && typeof tool['name'] === 'string' && target.isAllowed(tool['name']));

/** Answers a question of an older server in the client's place, which does not hear of it. */
const decline = async ({ target, headers, signal }: PassAnswer, id: unknown): Promise<void> => {
  const response = await target.send({
    method: 'POST',
    headers: { ...headers, accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'decline' } }),
    signal,
  });
  await response.body?.cancel();
};

/**
 * The questions of a round without those that nobody may answer: Gantry's own answers travel in the state that the client sends back. A
 * round of nothing else is answered at once, and its answer is what the client gets.
 */
const withoutDeclined = async (answer: PassAnswer, message: Members, result: Members): Promise<string | undefined> => {
  const { target, sealing, context } = answer;
  const requests = isObject(result['inputRequests']) ? Object.entries(result['inputRequests']) : [];
  const declined = requests.filter(
    ([, request]) =>
      isObject(request) && request['method'] === 'elicitation/create' && target.isDeclined(request['params']),
  );
  if (declined.length === 0) return undefined;
  const responses = Object.fromEntries(declined.map(([key]) => [key, { action: 'decline' }]));
  const state = typeof result['requestState'] === 'string' ? result['requestState'] : undefined;
  const open = requests.filter((request) => !declined.includes(request));
  if (open.length === 0) return await nextRound(answer, responses, state);
  const requestState = wrapState(sealing, context, { requestState: state, responses });
  return JSON.stringify({ ...message, result: { ...result, inputRequests: Object.fromEntries(open), requestState } });
};

const nextRound = async (answer: PassAnswer, responses: Members, state: string | undefined): Promise<string> => {
  const { target, headers, signal, message } = answer;
  const params = isObject(message?.['params']) ? message['params'] : {};
  const { requestState: _spent, inputResponses: _sent, ...rest } = params;
  const body = JSON.stringify({
    ...message,
    params: { ...rest, inputResponses: responses, ...(state !== undefined && { requestState: state }) },
  });
  const response = await target.send({ method: 'POST', headers, body, signal });
  const next = { ...answer, response };
  let data: string;
  if (isStream(response)) {
    let last = '';
    for await (const text of fromEvents(next, response.body ?? new ReadableStream())) last = text;
    data = dataOf(last);
  } else data = await wholeText(next);
  if (data === '')
    throw new GantryError(
      'execution_failed',
      `Server "${target.name}" gave no answer after its question was declined.`,
    );
  return data;
};

const dataOf = (event: string): string =>
  event
    .split('\n')
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice(5).trim())
    .join('\n');
