import type { Json, JsonObject } from '../../../kernel/json.ts';
import { isObject } from '../../../kernel/json.ts';
import type { Part, ToolReport } from '../../../tool/outcome.ts';

/** A result of `tools/call`, read. */
export type ReadResult =
  | { readonly kind: 'complete'; readonly isError: boolean; readonly report: ToolReport }
  /** A result that is none yet (see `unfinished.ts`), or of a kind that came after this was written. */
  | { readonly kind: 'unknown'; readonly resultType: string };

/**
 * Reads a result leniently, since one odd member is no reason to lose a call: content that is missing, a bare text or a bare block, the
 * old `toolResult`, and results of no known form at all. Blocks stay the objects they are, with members that nobody knows.
 */
export const readResult = (raw: unknown): ReadResult => {
  if (!isObject(raw)) return complete(toParts(raw));
  const { resultType } = raw;
  if (typeof resultType === 'string' && resultType !== 'complete') return { kind: 'unknown', resultType };
  if ('content' in raw || 'structuredContent' in raw) return readCurrent(raw);
  if ('toolResult' in raw)
    return isObject(raw['toolResult']) ? readResult(raw['toolResult']) : complete(toParts(raw['toolResult']));
  if (typeof raw['type'] === 'string') return complete([toPart(raw)]);
  const rest = withoutHopKeys(raw);
  return complete(Object.keys(rest).length > 0 ? [textPart(JSON.stringify(rest))] : [], raw);
};

const readCurrent = (raw: Readonly<Record<string, unknown>>): ReadResult =>
  complete(toParts(raw['content']), raw, raw['structuredContent'] as Json | undefined);

const complete = (
  parts: readonly Part[],
  raw: Readonly<Record<string, unknown>> = {},
  structured?: Json,
): ReadResult => ({
  kind: 'complete',
  isError: raw['isError'] === true,
  report: { parts, structured, meta: metaOf(raw['_meta']) },
});

const toParts = (content: unknown): Part[] => {
  if (content === undefined || content === null) return [];
  return Array.isArray(content) ? (content as unknown[]).map(toPart) : [toPart(content)];
};

/** A block as it is, when it has what its type promises; else its JSON as text. */
const toPart = (block: unknown): Part => {
  if (typeof block === 'string') return textPart(block);
  if (isObject(block) && typeof block['type'] === 'string' && isWhole(block)) return block as unknown as Part;
  return textPart(JSON.stringify(block) ?? '');
};

const isWhole = (block: Readonly<Record<string, unknown>>): boolean => {
  switch (block['type']) {
    case 'text':
      return typeof block['text'] === 'string';
    case 'image':
    case 'audio':
      return typeof block['data'] === 'string' && typeof block['mimeType'] === 'string';
    case 'resource_link':
      return typeof block['uri'] === 'string' && typeof block['name'] === 'string';
    case 'resource': {
      const { resource } = block;
      if (!isObject(resource) || typeof resource['uri'] !== 'string') return false;
      return [resource['text'], resource['blob']].every((value) => value === undefined || typeof value === 'string');
    }
    default:
      return true;
  }
};

const textPart = (text: string): Part => ({ type: 'text', text });

const reservedPrefix = 'io.modelcontextprotocol/';
const hopKeys: ReadonlySet<string> = new Set(['_meta', 'resultType', 'isError', 'ttlMs', 'cacheScope']);

const withoutHopKeys = (raw: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(raw).filter(([key]) => !hopKeys.has(key)));

/** The `_meta` without the keys of one hop: who the server is, which stream it spoke on. */
const metaOf = (meta: unknown): JsonObject | undefined => {
  if (!isObject(meta)) return undefined;
  const kept = Object.entries(meta).filter(([key]) => !key.startsWith(reservedPrefix) && key !== 'progressToken');
  return kept.length > 0 ? (Object.fromEntries(kept) as JsonObject) : undefined;
};
