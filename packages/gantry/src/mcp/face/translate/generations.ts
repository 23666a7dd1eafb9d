import type { Json, JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';

const reserved = 'io.modelcontextprotocol/';

/** The parameters without what belongs to one hop: who the client is, what it can do, which token its progress has. */
export const withoutHopMeta = (params: JsonObject): JsonObject => {
  const { _meta: meta, ...rest } = params;
  if (!isObject(meta)) return rest;
  const kept = Object.entries(meta).filter(([key]) => !key.startsWith(reserved) && key !== 'progressToken');
  return kept.length > 0 ? { ...rest, _meta: Object.fromEntries<Json | undefined>(kept) } : rest;
};

/** A result in the words of 2025: what only 2026 says is left out. */
export const toLegacyResult = (result: JsonObject): JsonObject => {
  const { resultType: _type, ttlMs: _ttl, cacheScope: _scope, ...rest } = withoutHopMeta(result);
  return rest;
};

const newerMembers: ReadonlySet<string> = new Set(['resulttype', 'inputrequests', 'requeststate']);

/**
 * What a server of 2025 says, without what only 2026 says, in any case. Such a server asks over its session, where it is judged who may answer;
 * a client of 2026 would take questions in a result for some that were.
 */
export const withoutNewer = (said: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(said).filter(([name]) => !newerMembers.has(name.toLowerCase())));

const listKeys = ['tools', 'prompts', 'resources', 'resourceTemplates', 'contents'];

/** A result in the words of 2026. A server of 2025 says nothing of how long its lists hold, so they hold for no time. */
export const toModernResult = (result: JsonObject): JsonObject => ({
  resultType: 'complete',
  ...(listKeys.some((key) => key in result) && { ttlMs: 0, cacheScope: 'private' }),
  ...withoutHopMeta(result),
});

/** What a server of 2026 wants to know, by the keys under which it is answered. */
export type InputRequests = Readonly<Record<string, { readonly method: string; readonly params: unknown }>>;

/** Reads the questions of a round or a task. */
export const readInputRequests = (inputRequests: unknown): InputRequests =>
  Object.fromEntries(
    Object.entries(isObject(inputRequests) ? inputRequests : {}).map(([key, request]) => [
      key,
      {
        method: isObject(request) ? String(request['method']) : '',
        params: isObject(request) ? request['params'] : undefined,
      },
    ]),
  );

/** What a server of 2025 asks over its session, in the words of 2026. */
export const toInputRequests = (
  asked: Iterable<readonly [key: string, request: { readonly method: string; readonly params: Json | undefined }]>,
): JsonObject =>
  Object.fromEntries(
    Array.from(asked, ([key, { method, params }]) => [
      key,
      { method, params: isObject(params) ? withoutHopMeta(params) : {} },
    ]),
  );

/** What a server of 2026 wants to know before it goes on, and the state it wants back; undefined for any other result. */
export const readHandedBack = (
  raw: unknown,
): { readonly requests: InputRequests; readonly state: JsonObject } | undefined => {
  if (!isObject(raw) || (raw['resultType'] !== 'input_required' && !asksWithoutSaying(raw))) return undefined;
  const { inputRequests, requestState } = raw;
  return {
    requests: readInputRequests(inputRequests),
    state: typeof requestState === 'string' ? { requestState } : {},
  };
};

/** Questions that are not said to be any are questions all the same; those of a task are answered beside it. */
const asksWithoutSaying = (raw: object): boolean =>
  'inputRequests' in raw && isObject(raw.inputRequests) && !('taskId' in raw) && !('task' in raw);
