import type { GantryErrorCode } from '../../kernel/errors.ts';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { isObject, parseJson } from '../../kernel/json.ts';
import type { Operation, OperationEvent } from '../operation.ts';
import { readEvents } from './read-events.ts';
import { toRequest } from './operation-request.ts';

/** How a gateway is asked. */
export interface CallOperationOptions {
  /** Bearer token of the gateway, where it wants one. */
  readonly token?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Hears the events of an operation that streams; with it the answer is asked for as a stream. */
  readonly onEvent?: ((event: OperationEvent) => void) | undefined;
  /** Default undici's, without its time-outs: a call takes as long as the gateway lets it. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/**
 * Runs an operation in the gateway at `url`.
 * @throws {GantryError} what the gateway answered; `auth_required` when it wants another token; `execution_failed` when nothing
 * that is a gateway answers; `cancelled` when the signal aborts.
 */
export const callOperation = async <Input extends object, Output>(
  url: string,
  operation: Operation<Input, Output>,
  input: Input,
  options: CallOperationOptions = {},
): Promise<Output> => {
  const { token, signal, onEvent, fetch = await patientFetch() } = options;
  const { method, target, body } = toRequest(operation, input as Readonly<Record<string, unknown>>);
  const isStream = operation.streams !== undefined && onEvent !== undefined;
  const headers: Record<string, string> = { accept: isStream ? 'text/event-stream' : 'application/json' };
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const address = `${url.replace(/\/+$/, '')}${target}`;
  let status: number;
  let text: string;
  let isAnswering = false;
  try {
    const init: RequestInit = { method, headers, redirect: 'error' };
    const response = await fetch(address, { ...init, ...(body !== undefined && { body }), ...(signal && { signal }) });
    isAnswering = true;
    ({ status } = response);
    if (isStream && status === 200 && response.body)
      return await readStream<Output>(response.body, url, operation.name, onEvent);
    text = await response.text();
  } catch (error) {
    if (GantryError.is(error)) throw error;
    if (signal?.aborted) throw new GantryError('cancelled', 'The request was cancelled.', { cause: error });
    throw isAnswering || isConnected(error) ? lostAnswer(url, operation.name, error) : nobodyAnswers(url, error);
  }
  const parsed = parseJson(text);
  if (status === 200 && parsed.ok) return parsed.value as Output;
  throw toError(url, operation.name, status, parsed.ok ? parsed.value : undefined);
};

const readStream = async <Output>(
  body: AsyncIterable<Uint8Array>,
  url: string,
  name: string,
  onEvent: (event: OperationEvent) => void,
): Promise<Output> => {
  for await (const { type, data } of readEvents(body)) {
    const parsed = parseJson(data);
    if (!parsed.ok) continue;
    if (type === 'result') return parsed.value as Output;
    if (type === 'error') throw toError(url, name, 500, parsed.value);
    if (isObject(parsed.value)) onEvent({ ...parsed.value, type });
  }
  throw lostAnswer(url, name, 'the stream ended');
};

const toError = (url: string, name: string, status: number, answer: unknown): GantryError => {
  const given = isObject(answer) && isObject(answer['error']) ? answer['error'] : undefined;
  if (status === 401 || status === 403)
    return new GantryError(
      'auth_required',
      `The gateway at ${url} refused the request (HTTP ${status}); set GANTRY_TOKEN to its token.`,
    );
  if (given && typeof given['code'] === 'string' && typeof given['message'] === 'string')
    return new GantryError(given['code'] as GantryErrorCode, given['message'], {
      retry: given['isRetryable'] === true ? 'later' : 'never',
    });
  return new GantryError(
    'execution_failed',
    `${url} answered "${name}" with HTTP ${status}; it is no Gantry gateway, or one of another version.`,
  );
};

const nobodyAnswers = (url: string, error: unknown): GantryError =>
  new GantryError(
    'execution_failed',
    `No gateway answers at ${url} (${reasonOf(error)}); start it with "gantry serve", or correct --url or GANTRY_URL.`,
    { cause: error, retry: 'later' },
  );

const lostAnswer = (url: string, name: string, error: unknown): GantryError =>
  new GantryError(
    'execution_failed',
    `The gateway at ${url} ended the connection before it answered "${name}" (${reasonOf(error)}): it was stopped or it crashed. What was asked may have been done; look before you ask again.`,
    { cause: error },
  );

/** Ways in which a connection ends that there was; all others keep it from being made. */
const lostCodes: ReadonlySet<string> = new Set([
  'UND_ERR_SOCKET',
  'ECONNRESET',
  'EPIPE',
  'UND_ERR_RES_CONTENT_LENGTH_MISMATCH',
]);

const isConnected = (error: unknown): boolean => lostCodes.has(reasonOf(error));

// fetch hides the reason why a connection failed in the cause of its error.
const reasonOf = (error: unknown): string => {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined;
  return code ?? messageOf(cause ?? error);
};

const patientFetch = async (): Promise<NonNullable<CallOperationOptions['fetch']>> => {
  const { Agent, fetch } = await import('undici');
  const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0, pipelining: 0, allowH2: false });
  return (url, init) => fetch(url, { ...(init as object), dispatcher });
};
