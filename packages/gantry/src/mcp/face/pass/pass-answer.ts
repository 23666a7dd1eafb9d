import { GantryError } from '../../../kernel/errors.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import { eventTexts, isEventStream, withData } from '../../wire/sessions/event-texts.ts';
import type { EventText } from '../../wire/sessions/event-texts.ts';
import { heldStream, piecesOf } from '../../../net/held-stream.ts';
import type { Hearing } from './judge-message.ts';
import { judgeMessage } from './judge-message.ts';
import { mayConcern } from './may-concern.ts';
import { hasDoubles } from './unclear-message.ts';
import { unreadable } from './unreadable.ts';
import type { Stoppable } from './until-stopped.ts';
import { piecesUntilStopped } from './until-stopped.ts';

/** An answer of a server, and the request that it answers. */
export interface PassAnswer extends Omit<Hearing, 'nextRound'> {
  readonly response: Response;
  /** Ends the request at the server. */
  readonly abort: () => void;
  /** Takes note of what is passed on, before it is. */
  readonly noteTask?: ((text: string) => Promise<void>) | undefined;
  /** Ends a stream when the gateway stops; absent where nobody waits for its end. */
  readonly stoppable?: Stoppable | undefined;
  /** How often the request was sent again already; absent for the first time. */
  readonly rounds?: number | undefined;
}

// A server that asks again whatever it is told would never end.
const maxRounds = 20;

/**
 * The body of the answer for the client: as the server wrote it, but for tools and prompts that are hidden and questions that nobody may answer.
 * `held` is let go of when the body has ended.
 * @throws {GantryError} `execution_failed` for an answer that has to be judged and cannot be read; what reading throws. A stream has a
 * JSON-RPC error in the place of such an event.
 */
export const answerBody = async (
  answer: PassAnswer,
  held: Disposable,
): Promise<ReadableStream<Uint8Array> | string | null> => {
  const { response } = answer;
  if (!isEventStream(response.headers)) {
    using _ended = held;
    // A text is written in one piece, without a stream on either side.
    const text = await judgedText(answer);
    await answer.noteTask?.(text);
    return text === '' ? null : text;
  }
  const { body } = response;
  if (!body) {
    held[Symbol.dispose]();
    return null;
  }
  const reader = body.getReader();
  const texts = judgedEvents(answer, piecesOf(reader));
  const encoder = new TextEncoder();
  const next = async (): Promise<Uint8Array | undefined> => {
    const { done, value } = await texts.next();
    return done ? undefined : encoder.encode(value);
  };
  // A server that is silent would not notice that nobody reads on.
  const pieces = answer.stoppable ? piecesUntilStopped(next, answer.stoppable) : next;
  return heldStream(reader, pieces, held, answer.abort);
};

async function* judgedEvents(answer: PassAnswer, body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  for await (const event of eventTexts(body)) {
    // The whole text is looked at, as readers differ in what they take for the data.
    const text = mayConcern(event.text, answer.target) ? await judgedEvent(answer, event) : event.text;
    if (text === undefined) continue;
    await answer.noteTask?.(text);
    yield text;
  }
}

/** The event for the client; undefined for one that it does not get. */
const judgedEvent = async (answer: PassAnswer, event: EventText): Promise<string | undefined> => {
  const { text, data } = event;
  if (data === '') return undefined;
  try {
    const said = await judged(answer, data);
    if (said === undefined) return undefined;
    if (said !== data) return withData(event, said);
    // Of several lines of data a reader could take each for a message.
    return data.includes('\n') ? withData(event, JSON.stringify(JSON.parse(data))) : text;
  } catch (error) {
    const id = answer.message?.['id'];
    if (!GantryError.is(error) || error.code !== 'execution_failed') throw error;
    if (id === undefined) return undefined;
    return withData(
      event,
      JSON.stringify({ jsonrpc: '2.0', id, error: { code: -32_603, message: answer.target.mask(error.message) } }),
    );
  }
};

const judgedText = async (answer: PassAnswer): Promise<string> => {
  const text = await answer.response.text();
  if (!mayConcern(text, answer.target)) return text;
  const said = await judged(answer, text);
  if (said !== undefined) return said;
  if (answer.message?.['id'] === undefined) return '';
  throw new GantryError(
    'execution_failed',
    `Server "${answer.target.name}" asked something that nobody may answer, and gave no answer itself.`,
  );
};

/** The text of one message or several for the client: the same where policy changes nothing, undefined where nothing is left of it. */
const judged = async (answer: PassAnswer, text: string): Promise<string | undefined> => {
  const parsed = parseJson(text);
  if (!parsed.ok) throw unreadable(answer.target.name);
  const hearing: Hearing = { ...answer, nextRound: (responses, state) => nextRound(answer, responses, state) };
  const { value } = parsed;
  let said: unknown;
  if (Array.isArray(value)) {
    const messages: readonly unknown[] = value;
    const all: unknown[] = [];
    for (const message of messages) all.push(await judgeMessage(hearing, message));
    const isSame = all.every((message, index) => message === messages[index]);
    const kept = all.filter((message) => message !== undefined);
    if (isSame) said = value;
    else said = kept.length > 0 ? kept : undefined;
  } else said = await judgeMessage(hearing, value);
  if (said === undefined) return undefined;
  // What can be read in two ways goes on in the one that was judged.
  return said === value && !hasDoubles(text, value) ? text : JSON.stringify(said);
};

/** Answers a round of nothing but questions that are declined; its answer is what the client gets. */
const nextRound = async (
  answer: PassAnswer,
  responses: Readonly<Record<string, unknown>>,
  state: string | undefined,
): Promise<unknown> => {
  const { target, headers, signal, message, rounds = 0 } = answer;
  if (!message?.['method']) return undefined;
  if (rounds >= maxRounds)
    throw new GantryError('execution_failed', `Server "${target.name}" kept asking; it was given up.`);
  const params = isObject(message['params']) ? message['params'] : {};
  const { requestState: _spent, inputResponses: _sent, ...rest } = params;
  const body = JSON.stringify({
    ...message,
    params: { ...rest, inputResponses: responses, ...(state !== undefined && { requestState: state }) },
  });
  const response = await target.send({ method: 'POST', headers, body, signal });
  const data = await lastData({ ...answer, response, rounds: rounds + 1 });
  const parsed = parseJson(data);
  if (parsed.ok) return parsed.value;
  throw new GantryError('execution_failed', `Server "${target.name}" gave no answer after its question was declined.`);
};

const lastData = async (answer: PassAnswer): Promise<string> => {
  const { response } = answer;
  if (!isEventStream(response.headers)) return await judgedText(answer);
  const { body } = response;
  if (!body) return '';
  let last = '';
  const events = eventTexts(encoded(judgedEvents(answer, body)));
  for await (const { data } of events) if (data !== '') last = data;
  return last;
};

async function* encoded(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const text of texts) yield encoder.encode(text);
}
