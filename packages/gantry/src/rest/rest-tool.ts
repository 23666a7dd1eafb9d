import { GantryError } from '../kernel/errors.ts';
import type { GuardedFetch } from '../net/guarded-client.ts';
import type { Tool } from '../tool/executor.ts';
import type { JsonSchema, ToolAnnotations } from '../tool/registration.ts';
import { toRegistration } from '../tool/registration.ts';
import { isObject } from '../kernel/json.ts';
import { buildRequest } from './build-request.ts';
import type { RestEndpoint, RestMethod } from './endpoint.ts';
import { namesIn } from './fill-template.ts';
import { readAnswer } from './read-answer.ts';

/** What the tools are made with. */
export interface RestToolOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Fetches under the rules of the endpoint. */
  readonly fetch: GuardedFetch;
}

const defaultTimeoutMs = 30_000;
const defaultMaxBytes = 1024 * 1024;

/**
 * Makes the tool of an endpoint.
 *
 * @throws {GantryError} `config_invalid` naming the tool and what is wrong with its entry.
 */
export const restTool = (name: string, endpoint: RestEndpoint, { env, fetch }: RestToolOptions): Tool => {
  const { description, method = 'GET', timeoutMs = defaultTimeoutMs, maxBytes = defaultMaxBytes } = endpoint;
  const problem = problemOf(name, endpoint);
  if (problem !== undefined)
    throw new GantryError('config_invalid', `rest.tools.${name}: ${problem}.`, {
      details: { path: `rest.tools.${name}` },
    });
  return {
    registration: toRegistration({
      name,
      description,
      source: 'rest',
      inputSchema: endpoint.parameters ?? schemaOf(endpoint),
      annotations: annotationsOf(method),
    }),
    executor: {
      execute: async (call, { signal }) => {
        const { url, headers, body, secrets } = buildRequest(name, endpoint, call.arguments, env);
        const response = await fetch(url, {
          method,
          headers,
          body,
          signal,
          // Headers with secrets would go along to wherever the redirect leads.
          redirect: 'manual',
          limits: { totalMs: timeoutMs, headersMs: timeoutMs, idleMs: timeoutMs, maxBytes: maxBytes + 1 },
        });
        return readAnswer(response, { name, maxBytes, secrets });
      },
      timeoutMs,
    },
  };
};

const problemOf = (name: string, endpoint: RestEndpoint): string | undefined => {
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(name)) return 'a name has letters, digits, "_" and "-", at most 64';
  const [origin] = /^https?:\/\/[^/?#]+/i.exec(endpoint.url) ?? [];
  if (origin === undefined || !URL.canParse(origin)) return 'url must begin with http:// or https:// and a host';
  if (/[{}]/.test(origin)) return 'url may have placeholders in path and query only: the host is fixed';
  if (origin.includes('@')) return 'url must not hold a user name or password; use auth';
  const { parameters } = endpoint;
  if (parameters === undefined) return undefined;
  const known = isObject(parameters['properties']) ? Object.keys(parameters['properties']) : [];
  const unknown = argumentsOf(endpoint).find((arg) => !known.includes(arg));
  return unknown === undefined
    ? undefined
    : `the placeholder {${unknown}} names no argument; parameters.properties has ${known.join(', ') || 'none'}`;
};

const argumentsOf = ({ url, query, headers, body }: RestEndpoint): readonly string[] => [
  ...new Set(namesIn([url, ...Object.values(query ?? {}), ...Object.values(headers ?? {}), body ?? null]).args),
];

const schemaOf = (endpoint: RestEndpoint): JsonSchema => {
  const names = argumentsOf(endpoint);
  return {
    type: 'object',
    properties: Object.fromEntries(names.map((arg) => [arg, { type: 'string' }])),
    required: names,
    additionalProperties: false,
  };
};

const annotationsOf = (method: RestMethod): ToolAnnotations =>
  method === 'GET' || method === 'HEAD'
    ? { readOnlyHint: true, openWorldHint: true }
    : {
        readOnlyHint: false,
        destructiveHint: method !== 'POST',
        idempotentHint: method === 'PUT' || method === 'DELETE',
        openWorldHint: true,
      };
