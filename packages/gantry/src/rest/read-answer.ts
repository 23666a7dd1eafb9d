import type { RetryHint } from '../kernel/errors.ts';
import type { Json } from '../kernel/json.ts';
import { parseJson } from '../kernel/json.ts';
import { readBody } from '../net/read-body.ts';
import { flattenText } from '../text/flatten.ts';
import { secretMask } from '../text/scrub.ts';
import type { Outcome } from '../tool/outcome.ts';
import { failedOutcome, textOutcome } from '../tool/outcome.ts';

/** How an answer is read. */
export interface ReadAnswerOptions {
  /** The tool, for messages. */
  readonly name: string;
  readonly maxBytes: number;
  /** Texts that the answer may repeat and nobody may see. */
  readonly secrets: readonly string[];
}

const maxErrorChars = 1000;
/** A shorter secret is no secret, and would tear holes into texts. */
const minSecretChars = 4;

/**
 * Turns an answer into an outcome: JSON is structured, text is text, a status of 300 and above has failed and says how the body begins.
 */
export const readAnswer = async (response: Response, options: ReadAnswerOptions): Promise<Outcome> => {
  const { name, maxBytes, secrets } = options;
  const { status } = response;
  const type = response.headers.get('content-type') ?? '';
  const { bytes, truncated } = await readBody(response, maxBytes);
  const kind = kindOf(type);
  const text = kind === 'binary' ? '' : withoutSecrets(decode(bytes, type), secrets);
  if (status >= 300)
    return failedOutcome(
      status === 401 ? 'auth_required' : 'execution_failed',
      problemOf(name, response, text),
      retryOf(status),
    );
  if (kind === 'binary' && bytes.byteLength > 0) {
    const size = `${truncated ? 'more than ' : ''}${bytes.byteLength} bytes`;
    return failedOutcome(
      'execution_failed',
      `"${name}" answered with ${flattenText(type).slice(0, 100)} (${size}), which is no text and cannot be shown.`,
    );
  }
  if (text === '') return textOutcome(`HTTP ${status}; the answer is empty.`);
  if (truncated) return textOutcome(`${text}\n[The answer is longer than ${maxBytes} bytes; this is its beginning.]`);
  const parsed = kind === 'json' ? parseJson(text) : undefined;
  return parsed?.ok ? { status: 'done', parts: [], structured: parsed.value as Json } : textOutcome(text);
};

const problemOf = (name: string, { status, headers }: Response, text: string): string => {
  if (status < 400) {
    const to = URL.parse(headers.get('location') ?? '')?.host;
    return `"${name}" was answered with a redirect (HTTP ${status}${to === undefined ? '' : ` to ${to}`}), which is not followed; the operator has to correct its url.`;
  }
  const body = flattenText(text).slice(0, maxErrorChars);
  return `"${name}" was answered with HTTP ${status}${body === '' ? '.' : `: ${body}`}`;
};

const retryOf = (status: number): RetryHint =>
  status === 408 || status === 429 || status === 502 || status === 503 || status === 504 ? 'later' : 'never';

const kindOf = (type: string): 'json' | 'text' | 'binary' => {
  const [essence = ''] = type.toLowerCase().split(';');
  const name = essence.trim();
  if (name === 'application/json' || name.endsWith('+json') || name === 'text/json') return 'json';
  if (
    name === '' ||
    name.startsWith('text/') ||
    /[/+](?:xml|yaml|x-yaml|javascript|x-ndjson|x-www-form-urlencoded|graphql)$/.test(name)
  )
    return 'text';
  return 'binary';
};

const decode = (bytes: Uint8Array, type: string): string => {
  const charset = /;\s*charset\s*=\s*"?([\w.:-]+)/i.exec(type)?.[1] ?? 'utf-8';
  return decoderOf(charset).decode(bytes);
};

const decoderOf = (charset: string): TextDecoder => {
  try {
    return new TextDecoder(charset);
  } catch {
    // A charset that nobody knows says nothing about the bytes.
    return new TextDecoder();
  }
};

/** Masks secrets as they are and as JSON or a URL would write them. */
const withoutSecrets = (text: string, secrets: readonly string[]): string => {
  let clean = text;
  for (const secret of secrets) {
    if (secret.length < minSecretChars) continue;
    for (const spelling of new Set([secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)]))
      clean = clean.replaceAll(spelling, secretMask);
  }
  return clean;
};
