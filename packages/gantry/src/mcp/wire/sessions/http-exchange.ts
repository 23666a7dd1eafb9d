import { delay } from '../../../kernel/abort.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { GantryError, messageOf } from '../../../kernel/errors.ts';
import { isObject, parseJson } from '../../../kernel/json.ts';
import { depthProblem, tooDeep } from '../json-limits.ts';
import { eventTexts, isEventStream } from './event-texts.ts';
import type { Exchange, ExchangeWay } from './exchange.ts';
import { startExchange } from './exchange.ts';

/** How a request reaches a server over Streamable HTTP. */
export interface HttpWay extends Omit<ExchangeWay, 'send' | 'toError'> {
  readonly server: string;
  /** Sends the request. */
  post(signal: AbortSignal): Promise<Response>;
  /** Opens the stream again behind an event; undefined where streams cannot be taken up again. */
  readonly resume?: ((lastEventId: string, signal: AbortSignal) => Promise<Response>) | undefined;
  readonly clock: Clock;
}

// MCP 2025-11-25 lets a server end a stream early and have the client ask again; one that says nothing new so often is left.
const mostResumptions = 20;
const defaultRetryMs = 1_000;

/** Sends a request over HTTP. What comes on the stream of its answer belongs to it, which a connection that many share cannot say. */
export const startHttpExchange = (way: HttpWay): Exchange => {
  const { server, id, clock } = way;
  return startExchange({
    ...way,
    send: async (take, signal) => {
      let isAnswered = false;
      const watch = (message: unknown): void => {
        if (isAnswerTo(message, id)) isAnswered = true;
        take(message);
      };
      let response = await way.post(signal);
      let from: string | undefined;
      for (let idle = 0; idle < mostResumptions; idle += 1) {
        const place = await readAnswer(response, way, watch);
        if (isAnswered) return;
        const { lastEventId = from } = place;
        if (lastEventId === undefined || !way.resume) break;
        if (lastEventId !== from) idle = 0;
        from = lastEventId;
        await delay(clock, place.retryMs ?? defaultRetryMs, signal);
        response = await way.resume(lastEventId, signal);
      }
      throw new GantryError(
        'server_unreachable',
        `Server "${server}" ended the connection before it answered; whether the request was carried out is unknown.`,
        { details: { name: server }, retry: 'never' },
      );
    },
    toError: (error) => brokenOff(way, error),
  });
};

const isAnswerTo = (message: unknown, id: string | number): boolean =>
  Array.isArray(message)
    ? message.some((one) => isAnswerTo(one, id))
    : isObject(message) && message['id'] === id && !('method' in message);

const readAnswer = async (
  response: Response,
  { server, id }: HttpWay,
  take: (message: unknown) => void,
): Promise<{ readonly lastEventId?: string; readonly retryMs?: number }> => {
  if (response.status === 401 || response.status === 403) {
    await response.body?.cancel();
    throw new GantryError(
      'auth_required',
      `Server "${server}" asks the gateway to sign in: gantry servers login ${server}`,
    );
  }
  if (!isEventStream(response.headers)) {
    const text = await response.text();
    const parsed = parseJson(text);
    if (depthProblem(text) !== undefined) throw tooDeep(server);
    // A server that could not read the request does not know its id.
    if (parsed.ok && isObject(parsed.value)) take(response.ok ? parsed.value : { ...parsed.value, id });
    else if (parsed.ok && Array.isArray(parsed.value)) take(parsed.value);
    else if (!response.ok)
      throw new GantryError('server_unreachable', `Server "${server}" answered with HTTP status ${response.status}.`);
    return {};
  }
  let lastEventId: string | undefined;
  let retryMs: number | undefined;
  for await (const { text, data } of eventTexts(response.body ?? new ReadableStream())) {
    lastEventId = fieldOf(text, 'id') ?? lastEventId;
    const retry = Number(fieldOf(text, 'retry') ?? Number.NaN);
    if (Number.isInteger(retry) && retry >= 0) retryMs = Math.min(retry, 60_000);
    const parsed = parseJson(data);
    if (depthProblem(data) !== undefined) throw tooDeep(server);
    if (parsed.ok) take(parsed.value);
  }
  return { ...(lastEventId !== undefined && { lastEventId }), ...(retryMs !== undefined && { retryMs }) };
};

const fieldOf = (event: string, name: string): string | undefined =>
  new RegExp(`^${name}: ?(.*)$`, 'm').exec(event)?.[1]?.trim();

const brokenOff = ({ server, mask }: HttpWay, error: unknown): GantryError =>
  new GantryError(
    'server_unreachable',
    `The connection to server "${server}" broke (${mask(messageOf(error))}); whether the request was carried out is unknown.`,
    { details: { name: server }, retry: 'never', cause: error },
  );
