import type { Log, LogFacts } from '../../../kernel/log.ts';
import { secretMask } from '../../../text/scrub.ts';
import type { ServerEntry } from './server-entry.ts';
import { expandHeaders, expandVariables } from './server-entry.ts';

/** Masks in a text what is secret about one server. */
export type MaskSecrets = (text: string) => string;

/** Masking what is shorter would make texts unreadable and hide nothing. */
const minSecretChars = 8;

/**
 * Masks the values that an entry gives to its server: headers, environment, the secret of its sign-in, and what stands in its URL as
 * user, password or query. A server may say any of them in an error. Values of fewer than 8 characters are left.
 *
 * @param tokens those in use at that moment.
 */
export const maskSecretsOf = (
  entry: ServerEntry,
  env: Readonly<Record<string, string | undefined>>,
  tokens: () => readonly string[] = () => [],
): MaskSecrets => {
  const own = [
    ...Object.values(expandHeaders(entry, env)).flatMap((value) => [value, ...value.split(/\s+/)]),
    ...Object.values(entry.env ?? {}),
    expandVariables(entry.oauth?.clientSecret ?? '', env),
    ...partsOfUrl(entry.url),
  ];
  return (text) => {
    let masked = text;
    for (const secret of formsOf([...own, ...tokens()])) masked = masked.replaceAll(secret, secretMask);
    return masked;
  };
};

/** A log that masks in messages, facts and errors. */
export const withSecretsMasked = (log: Log, mask: MaskSecrets): Log => {
  const masked =
    (level: keyof Log) =>
    (facts: LogFacts, message: string): void =>
      log[level](maskValue(facts, mask) as LogFacts, mask(message));
  return { debug: masked('debug'), info: masked('info'), warn: masked('warn'), error: masked('error') };
};

const partsOfUrl = (text: string | undefined): string[] => {
  const url = URL.parse(text ?? '');
  if (!url) return [];
  const { username, password, searchParams } = url;
  return [username, password, ...searchParams.values()].flatMap((part) => [part, decoded(part)]);
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    // A percent sign that encodes nothing stands for itself.
    return text;
  }
};

/** The texts and how they look inside URLs and JSON, the longest first: one may be a part of another. */
const formsOf = (secrets: readonly string[]): string[] => {
  const forms = secrets.flatMap((secret) =>
    secret.length < minSecretChars
      ? []
      : [secret, encodeURIComponent(secret.toWellFormed()), JSON.stringify(secret).slice(1, -1)],
  );
  return [...new Set(forms)].toSorted((a, b) => b.length - a.length);
};

const maskValue = (value: unknown, mask: MaskSecrets, levelsLeft = 8): unknown => {
  if (typeof value === 'string') return mask(value);
  if (typeof value !== 'object' || value === null) return value;
  if (levelsLeft === 0) return secretMask;
  const masked = (inner: unknown): unknown => maskValue(inner, mask, levelsLeft - 1);
  if (Array.isArray(value)) return value.map(masked);
  if (!(value instanceof Error))
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, masked(inner)]));
  const cause = value.cause === undefined ? {} : { cause: masked(value.cause) };
  const error = new Error(mask(value.message), cause);
  return Object.assign(error, {
    name: value.name,
    ...('code' in value ? { code: masked(value.code) } : {}),
    stack: mask(value.stack ?? value.message),
  });
};
