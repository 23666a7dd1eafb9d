import { GantryError } from '../kernel/errors.ts';
import type { Json, JsonObject } from '../kernel/json.ts';
import { isObject } from '../kernel/json.ts';
import type { RestEndpoint, RestMethod } from './endpoint.ts';
import type { Fillings } from './fill-template.ts';
import { asText, fillJson, fillText, fillTexts, namesIn } from './fill-template.ts';

/** A request that is ready to be sent. */
export interface RestRequest {
  readonly url: URL;
  readonly method: RestMethod;
  readonly headers: Headers;
  readonly body: string | undefined;
  /** Texts that must not be seen by anybody but the server. */
  readonly secrets: readonly string[];
}

/**
 * Makes the request of a call.
 *
 * @param name the tool, for messages.
 * @throws {GantryError} `auth_required` when an environment variable is not set; `invalid_arguments` for values that do not fit where
 * they stand.
 */
export const buildRequest = (
  name: string,
  endpoint: RestEndpoint,
  args: JsonObject,
  env: Readonly<Record<string, string | undefined>>,
): RestRequest => {
  const secrets = new Set<string>();
  const envOf = (variable: string, isSecret = true): string => {
    const value = env[variable];
    if (value === undefined || value === '')
      throw new GantryError(
        'auth_required',
        `"${name}" needs the environment variable ${variable}, which is not set; ask the operator of Gantry to set it.`,
        { details: { variable } },
      );
    if (isSecret) secrets.add(value);
    return value;
  };
  const fillings: Fillings = { args, envOf };
  const { method = 'GET' } = endpoint;
  const headers = headersOf(name, endpoint, fillings);
  const credential = credentialOf(endpoint, envOf);
  if (credential) {
    secrets.add(credential.value.replace(/^(?:Bearer|Basic) /, ''));
    setHeader(headers, credential.name, credential.value, name);
  }
  return {
    url: urlOf(name, endpoint, fillings),
    method,
    headers,
    body: bodyOf(method, endpoint, fillings, headers),
    secrets: [...secrets],
  };
};

const urlOf = (name: string, endpoint: RestEndpoint, fillings: Fillings): URL => {
  const inPath = new Set(namesIn(endpoint.url.replace(/[?#].*$/s, '')).args);
  // An empty part would turn the address of one thing into that of all.
  const missing = namesIn(endpoint.url).args.find((arg) => {
    const value = fillings.args[arg] ?? undefined;
    return value === undefined || (value === '' && inPath.has(arg));
  });
  if (missing !== undefined)
    throw unfit(`"${name}" needs the argument "${missing}": it is part of the address.`, missing);
  const filled = fillText(endpoint.url, fillings, encodeText) as string;
  const [path = ''] = filled.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/);
  // The parser would walk up the path, out of the part that the operator has opened.
  if (path.split(/[/\\]/).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment)))
    throw unfit(`An argument of "${name}" makes a part of the address "." or "..", which is not allowed.`);
  const url = new URL(filled);
  for (const [key, template] of Object.entries(endpoint.query ?? {}))
    for (const text of fillTexts(template, fillings)) url.searchParams.append(key, text);
  return url;
};

const encodeText = (text: string): string => encodeURIComponent(text.toWellFormed());

const headersOf = (name: string, endpoint: RestEndpoint, fillings: Fillings): Headers => {
  const headers = new Headers({ accept: 'application/json, text/*;q=0.9, */*;q=0.1' });
  for (const [key, template] of Object.entries(endpoint.headers ?? {})) {
    const text = fillText(template, fillings);
    if (text === undefined) continue;
    setHeader(headers, key, text, name);
  }
  return headers;
};

const setHeader = (headers: Headers, key: string, value: string, name: string): void => {
  // The value may be a secret, which the platform's own error would show.
  if (/[^\t\x20-\x7e\x80-\xff]/.test(value))
    throw unfit(
      `The header "${key}" of "${name}" would hold a line break or other characters that no header can hold.`,
    );
  headers.set(key, value);
};

const credentialOf = (
  { auth }: RestEndpoint,
  envOf: (variable: string, isSecret?: boolean) => string,
): { name: string; value: string } | undefined => {
  switch (auth?.type) {
    case undefined:
      return undefined;
    case 'bearer':
      return { name: 'authorization', value: `Bearer ${envOf(auth.env)}` };
    case 'basic': {
      const pair = `${envOf(auth.usernameEnv, false)}:${envOf(auth.passwordEnv)}`;
      return { name: 'authorization', value: `Basic ${Buffer.from(pair).toString('base64')}` };
    }
    case 'header':
      return { name: auth.name, value: envOf(auth.env) };
  }
};

const bodyOf = (
  method: RestMethod,
  endpoint: RestEndpoint,
  fillings: Fillings,
  headers: Headers,
): string | undefined => {
  if (method === 'GET' || method === 'HEAD') return undefined;
  const { body, bodyType = 'json' } = endpoint;
  if (typeof body === 'string') {
    if (!headers.has('content-type')) headers.set('content-type', 'text/plain; charset=utf-8');
    return fillText(body, fillings) ?? '';
  }
  const value = body === undefined ? remainingArguments(endpoint, fillings.args) : fillJson(body, fillings);
  if (value === undefined || (body === undefined && method === 'DELETE')) return undefined;
  if (bodyType === 'form') {
    headers.set('content-type', 'application/x-www-form-urlencoded');
    return toForm(value);
  }
  if (!headers.has('content-type')) headers.set('content-type', 'application/json');
  return JSON.stringify(value);
};

const remainingArguments = ({ url, query, headers }: RestEndpoint, args: JsonObject): JsonObject => {
  const used = new Set(namesIn([url, ...Object.values(query ?? {}), ...Object.values(headers ?? {})]).args);
  return Object.fromEntries(Object.entries(args).filter(([key]) => !used.has(key)));
};

const toForm = (value: Json): string => {
  const form = new URLSearchParams();
  if (isObject(value))
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined || member === null) continue;
      for (const item of Array.isArray(member) ? (member as readonly Json[]) : [member]) form.append(key, asText(item));
    }
  return form.toString();
};

const unfit = (message: string, argument?: string): GantryError =>
  new GantryError(
    'invalid_arguments',
    message,
    argument === undefined ? {} : { details: { faults: [{ path: argument, problem: 'is missing' }] } },
  );
