import { APICallError, InvalidResponseDataError, NoOutputGeneratedError, RetryError } from 'ai';
import { GantryError, messageOf } from '../../kernel/errors.ts';
import { flattenText } from '../../text/flatten.ts';
import { scrubText } from '../../text/scrub.ts';
import type { ReachableModel } from './providers/provider-model.ts';
import { keyVariables } from './model-settings.ts';
import { retryAfterMs } from './retry-after.ts';

/** What a provider says about a request that was too long, as far as it says it. */
export interface Overflow {
  readonly maxTokens?: number | undefined;
  readonly usedTokens?: number | undefined;
}

/**
 * Turns what the AI SDK throws or streams as an error into one that says who failed, why, and what to do. The key is never part of it.
 *
 * @param options.hasBegun whether a piece of the answer had come: a connection that is lost then has cut it.
 */
export const toModelError = (
  thrown: unknown,
  { provider, modelId: model, endpoint, apiKey }: ReachableModel,
  { hasBegun = false }: { readonly hasBegun?: boolean | undefined } = {},
): GantryError => {
  if (GantryError.is(thrown)) return thrown;
  const last = RetryError.isInstance(thrown) ? (thrown.lastError ?? thrown) : thrown;
  const status = APICallError.isInstance(last) ? last.statusCode : undefined;
  const words = withoutKey(wordsOf(last), apiKey);
  const said = flattenText(words, { maxChars: 500 }) || 'nothing';
  const overflow = overflowIn(words, status);
  const isCut = hasBegun && (status === undefined || status === 200) && isLost(last);
  const name = `The model "${model}" (${provider})`;
  const fail = (message: string, retry: 'never' | 'later' = 'never'): GantryError =>
    new GantryError('model_failed', message, {
      retry,
      cause: thrown,
      details: {
        provider,
        model,
        status,
        overflow,
        isIncomplete: isCut || isIncomplete(last),
        isOfPictures: isOfPictures(words, status),
      },
    });
  if (isCut) return fail(`${name} broke off in the middle of its answer: the connection was lost.`, 'later');
  if (overflow) return fail(`${name} takes no request of that length: ${said}`);
  if (status === 401 || status === 403) {
    const variable = keyVariables[provider];
    return fail(
      `${name} refused the key (HTTP ${status}); correct the tier's apiKey${variable ? ` or ${variable}` : ''}. It said: ${said}`,
    );
  }
  if (status === 404)
    return fail(
      `${name} was not found (HTTP 404); correct modelId or endpoint, or install the model. It said: ${said}`,
    );
  if (status === 429) return fail(`${name} is rate-limited (HTTP 429)${waitIn(last)}. It said: ${said}`, 'later');
  if (status !== undefined)
    return fail(`${name} failed (HTTP ${status}). It said: ${said}`, status >= 500 ? 'later' : 'never');
  if (isUnreachable(last))
    return fail(
      `Nothing answers for ${name.replace('The', 'the')}${endpoint ? ` at ${endpoint}` : ''}; start it, or correct the tier's endpoint. (${said})`,
      'later',
    );
  return fail(`${name} failed: ${said}`, 'later');
};

/** What a model error says about a request that was too long; undefined for any other. */
export const overflowOf = (error: unknown): Overflow | undefined =>
  GantryError.is(error) && error.code === 'model_failed'
    ? (error.details['overflow'] as Overflow | undefined)
    : undefined;

/** A provider refused the request with its content filter, as Azure does before a model sees it. */
export const isFiltered = (error: unknown): boolean =>
  GantryError.is(error) &&
  error.code === 'model_failed' &&
  error.details['status'] === 400 &&
  /content[ _-]?(?:filter|management policy)|ResponsibleAIPolicy/i.test(error.message);

/** A provider refused the request for what is in it, such as a picture. */
export const isRefusal = (error: unknown): boolean =>
  GantryError.is(error) &&
  error.code === 'model_failed' &&
  (refusals.has(error.details['status']) || error.details['isOfPictures'] === true);

const refusals: ReadonlySet<unknown> = new Set([400, 413, 415, 422]);

// llama.cpp and Ollama say 500 of a picture that they cannot read, and of any where the model does not see; others say it inside a stream.
const isOfPictures = (words: string, status: number | undefined): boolean =>
  (status === undefined || status === 200 || status >= 500) && /image|mmproj|multi-?modal/i.test(words);

/** The answer ended before it was complete, and no reason was given; it is worth asking once more. */
export const isIncompleteAnswer = (error: unknown): boolean =>
  GantryError.is(error) && error.code === 'model_failed' && error.details['isIncomplete'] === true;

const isIncomplete = (thrown: unknown): boolean =>
  InvalidResponseDataError.isInstance(thrown) || NoOutputGeneratedError.isInstance(thrown);

/** How long the provider asks to wait, in words. */
const waitIn = (thrown: unknown): string => {
  const ms = APICallError.isInstance(thrown) ? retryAfterMs(thrown.responseHeaders) : undefined;
  if (ms === undefined) return '';
  return ms < 120_000
    ? `; it asks to wait ${Math.ceil(ms / 1000)} s`
    : `; it asks to wait ${Math.ceil(ms / 60_000)} min`;
};

/** A whole page that came instead of an answer says no more than its begin. */
const mostWordsChars = 4_000;

const wordsOf = (thrown: unknown): string => {
  const body = APICallError.isInstance(thrown) ? thrown.responseBody : undefined;
  const message = messageOf(thrown);
  const nested = nestedMessage(thrown);
  // Providers hide the reason in the body when they send no error object that the SDK knows.
  const text =
    nested ??
    (message === '' || /^(?:Bad Request|Not Found|Internal Server Error|Unknown error)$/i.test(message)
      ? (body ?? message)
      : message);
  return scrubText(text.slice(0, mostWordsChars));
};

/** Errors inside a stream come as the object that the provider sent. */
const nestedMessage = (thrown: unknown): string | undefined => {
  if (thrown instanceof Error || typeof thrown !== 'object' || thrown === null) return undefined;
  const { message, error } = thrown as { message?: unknown; error?: unknown };
  if (typeof message === 'string') return message;
  return error === undefined ? JSON.stringify(thrown) : nestedMessage(error);
};

const withoutKey = (text: string, apiKey: string | undefined): string =>
  apiKey ? text.replaceAll(apiKey, '[key]') : text;

const unreachableCodes: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ECONNRESET']);
const lostCodes: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'UND_ERR_SOCKET']);

const isUnreachable = (thrown: unknown): boolean => hasCode(thrown, unreachableCodes);

/** A connection that there was. */
const isLost = (thrown: unknown): boolean => hasCode(thrown, lostCodes);

/** An error, or one that caused it: fetch hides the reason in the cause. */
const hasCode = (thrown: unknown, codes: ReadonlySet<unknown>): boolean => {
  for (let at: unknown = thrown, depth = 0; at instanceof Error && depth < 5; at = at.cause, depth += 1)
    if ('code' in at && codes.has(at.code)) return true;
  return false;
};

const number = String.raw`([\d,._]*\d)`;
/** How providers write it; the first number is what fits, unless `used` says otherwise. */
const overflowTexts: readonly { readonly pattern: RegExp; readonly order: 'max-used' | 'used-max' }[] = [
  // OpenAI, vLLM, OpenRouter
  {
    pattern: new RegExp(
      `maximum context length is ${number} tokens?[^]*?(?:requested|resulted in|contains?)[^\\d]*${number}`,
      'i',
    ),
    order: 'max-used',
  },
  // Anthropic
  { pattern: new RegExp(`prompt is too long: ${number} tokens? > ${number}`, 'i'), order: 'used-max' },
  // Google
  { pattern: new RegExp(`input token count \\(?${number}\\)?[^\\d]*${number}`, 'i'), order: 'used-max' },
  // llama.cpp
  {
    pattern: new RegExp(
      `request \\(${number} tokens\\) exceeds the available context size \\(${number} tokens\\)`,
      'i',
    ),
    order: 'used-max',
  },
  { pattern: new RegExp(`maximum context length is ${number}`, 'i'), order: 'max-used' },
];
const overflowWords =
  /context[_ ](?:length|window|size)[_ ]?(?:exceeded|is exceeded)|exceeds? (?:the )?(?:model'?s? )?(?:maximum |available )?context|maximum context length|prompt is too long|input is too long|too many tokens|request too large/i;

const overflowIn = (words: string, status: number | undefined): Overflow | undefined => {
  // Inside a stream there is no status; a provider that says so in words with a 5xx has some other trouble.
  if (status !== undefined && status !== 400 && status !== 413 && status !== 422) return undefined;
  for (const { pattern, order } of overflowTexts) {
    const [match, first, second] = pattern.exec(words) ?? [];
    if (match === undefined) continue;
    const [a, b] = [toNumber(first), toNumber(second)];
    return order === 'max-used' ? { maxTokens: a, usedTokens: b } : { maxTokens: b, usedTokens: a };
  }
  return overflowWords.test(words) ? {} : undefined;
};

const toNumber = (text: string | undefined): number | undefined =>
  text === undefined ? undefined : Number(text.replaceAll(/[,._]/g, ''));
