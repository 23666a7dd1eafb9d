import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  PROTOCOL_VERSION_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server';
import { isObject } from '../../kernel/json.ts';
import type { JsonObject } from '../../kernel/json.ts';

/** A well-formed `tools/list` or `tools/call` that asks for nothing unusual. */
export interface PlainRequest {
  readonly id: string | number;
  /** Undefined for `tools/list`. */
  readonly call: PlainCall | undefined;
}

/** The parameters of a plain `tools/call`. */
export interface PlainCall {
  readonly name: string;
  readonly arguments: JsonObject | undefined;
  readonly meta: Readonly<Record<string, unknown>> | undefined;
}

/** The revision whose requests carry their own envelope. */
const modernRevision = '2026-07-28';

/** Reads a request of 2026-07-28; undefined when it is not plain, whatever the reason. */
export const toPlainModernRequest = (request: Request, body: unknown): PlainRequest | undefined => {
  const plain = toPlainRequest(body);
  if (!plain || !isEnvelope(plain.meta)) return undefined;
  const { headers } = request;
  const fits =
    headers.get('mcp-protocol-version') === modernRevision &&
    headers.get('mcp-method') === (plain.call ? 'tools/call' : 'tools/list') &&
    headers.get('mcp-name') === (plain.call?.name ?? null) &&
    acceptsBoth(headers.get('accept'));
  return fits ? plain : undefined;
};

/** Reads a request of a 2025 revision inside a session; undefined when it is not plain, whatever the reason. */
export const toPlainSessionRequest = (request: Request, body: unknown): PlainRequest | undefined => {
  const plain = toPlainRequest(body);
  if (!plain || hasReservedKey(plain.meta)) return undefined;
  const revision = request.headers.get('mcp-protocol-version');
  const fits =
    (revision === null || SUPPORTED_PROTOCOL_VERSIONS.includes(revision)) && acceptsBoth(request.headers.get('accept'));
  return fits ? plain : undefined;
};

type WithMeta = PlainRequest & { readonly meta: PlainCall['meta'] };

const toPlainRequest = (body: unknown): WithMeta | undefined => {
  if (!isObject(body) || body['jsonrpc'] !== '2.0' || !isId(body['id'])) return undefined;
  const { id, method, params } = body;
  if (params !== undefined && !isObject(params)) return undefined;
  const { _meta: meta, name, arguments: args, ...more } = params ?? {};
  if (!isMeta(meta)) return undefined;
  // What is more than this (cursors, answers, tasks, unknown members) is for the protocol server to judge.
  for (const _key in more) return undefined;
  if (method === 'tools/list' && name === undefined && args === undefined) return { id, meta, call: undefined };
  if (method !== 'tools/call' || typeof name !== 'string' || !(args === undefined || isObject(args))) return undefined;
  return { id, meta, call: { name, arguments: args as JsonObject | undefined, meta } };
};

const isId = (id: unknown): id is string | number => typeof id === 'string' || Number.isSafeInteger(id);

const isMeta = (meta: unknown): meta is PlainCall['meta'] => {
  if (meta === undefined) return true;
  return isObject(meta) && (meta['progressToken'] === undefined || isId(meta['progressToken']));
};

const reserved = 'io.modelcontextprotocol/';
const envelopeKeys: ReadonlySet<string> = new Set([
  PROTOCOL_VERSION_META_KEY,
  CLIENT_INFO_META_KEY,
  CLIENT_CAPABILITIES_META_KEY,
]);

const isEnvelope = (meta: PlainCall['meta']): boolean => {
  if (meta?.[PROTOCOL_VERSION_META_KEY] !== modernRevision) return false;
  const info = meta[CLIENT_INFO_META_KEY];
  const capabilities = meta[CLIENT_CAPABILITIES_META_KEY];
  return (
    (info === undefined ||
      (isObject(info) && typeof info['name'] === 'string' && typeof info['version'] === 'string')) &&
    isObject(capabilities) &&
    Object.values(capabilities).every(isObject) &&
    Object.keys(meta).every((key) => !key.startsWith(reserved) || envelopeKeys.has(key))
  );
};

const hasReservedKey = (meta: PlainCall['meta']): boolean =>
  meta !== undefined && Object.keys(meta).some((key) => key.startsWith(reserved));

const acceptsBoth = (accept: string | null): boolean =>
  accept !== null && accept.includes('application/json') && accept.includes('text/event-stream');
