import * as z from 'zod';
import type { Clock } from '../kernel/clock.ts';
import { GantryError } from '../kernel/errors.ts';
import type { CallContext } from '../tool/context.ts';
import { defineTool } from '../tool/define-tool.ts';
import type { Tool } from '../tool/executor.ts';
import { findEntries } from './find-entries.ts';
import { foldKey, isBelow, namespaceOf, normalizeKey, sharedNamespace } from './memory-key.ts';
import { describeEmpty, describeEntries, describeMissing, lifeOf } from './memory-texts.ts';
import type { WorkingMemory } from './working-memory.ts';

const minuteMs = 60_000;
// Longer than any conversation; what is to stay for good belongs elsewhere.
const maxTtlMinutes = 30 * 24 * 60;
const mostFound = 20;
const mostListed = 500;
const source = 'memory';

const keyHelp =
  'A key without "/" lies in your own namespace; a key with "/" is a full path, as listings and other tools show it.';
const key = z.string().describe(keyHelp);

/**
 * The tools by which a model saves, reads, deletes and searches its working memory. A caller reads any key it can name,
 * writes below its own namespace and `shared/`, and lists one namespace at a time, so that ids which cannot be guessed stay
 * private. A client of the gateway reads what is kept for clients and what is shared, and no conversation.
 */
export const memoryTools = (memory: WorkingMemory, clock: Clock): readonly Tool[] => [
  defineTool({
    name: 'save_to_working_memory',
    description:
      'Keeps a text for later steps of this conversation: intermediate results, notes, what another agent should read. It expires after ttl_minutes (5 by default). Saving under an existing key replaces it.',
    source,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({
      key,
      data: z.string().describe('The text to keep.'),
      ttl_minutes: z.number().positive().max(maxTtlMinutes).optional().describe('Minutes until it expires; default 5.'),
      category: z.string().optional().describe('Groups entries; may be a path such as "mail/inbox".'),
      tags: z.array(z.string()).optional().describe('Words to find it by.'),
    }),
    execute: async ({ key, data, ttl_minutes: minutes, category, tags }, context) => {
      const ttlMs = minutes === undefined ? undefined : Math.ceil(minutes * minuteMs);
      const entry = await memory.save(toWritableKey(key, context), data, { ttlMs, category, tags });
      return `Saved as \`${entry.key}\` (${lifeOf(entry, clock.nowMs())}).`;
    },
  }),
  defineTool({
    name: 'get_from_working_memory',
    description: 'Returns the whole text that is kept under a key of the working memory.',
    source,
    annotations: { readOnlyHint: true, openWorldHint: false },
    returnsStored: true,
    input: z.strictObject({ key }),
    execute: async ({ key }, context) => {
      const fullKey = toFullKey(key, context);
      const entry = await memory.get(fullKey);
      return entry ? entry.text : describeMissing(fullKey, await alternatives(memory, fullKey, context));
    },
  }),
  defineTool({
    name: 'delete_from_working_memory',
    description: 'Deletes an entry of the working memory.',
    source,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input: z.strictObject({ key }),
    execute: async ({ key }, context) => {
      const fullKey = toWritableKey(key, context);
      return (await memory.delete(fullKey)) ? `Deleted \`${fullKey}\`.` : describeMissing(fullKey, []);
    },
  }),
  defineTool({
    name: 'search_working_memory',
    description:
      'Finds entries of the working memory by words, category and tags, best first with a preview. Without a query it lists the entries, newest first. Read an entry with get_from_working_memory.',
    source,
    annotations: { readOnlyHint: true, openWorldHint: false },
    returnsStored: true,
    input: z.strictObject({
      query: z.string().optional().describe('Words to look for in keys, texts, tags and categories.'),
      category: z.string().optional().describe('Only this category and those below it.'),
      tags: z.array(z.string()).optional().describe('Only entries that have all of these tags.'),
      namespace: z
        .string()
        .optional()
        .describe('Where to look: "subagent/{id}", "shared", or a path below; default your own namespace.'),
    }),
    execute: async ({ query = '', category, tags, namespace }, context) => {
      const path = toListedPath(namespace, context);
      const wanted = { query: query.trim(), category, tags };
      const found = findEntries(await memory.list(path), wanted);
      const isOwn = foldKey(path) === foldKey(context.namespace ?? '');
      if (found.length === 0) return describeEmpty(path, wanted, isOwn);
      const shown = found.slice(0, wanted.query === '' ? mostListed : mostFound);
      return describeEntries(shown, { path, wanted, total: found.length, nowMs: clock.nowMs() });
    },
  }),
];

const toFullKey = (key: string, context: CallContext): string => {
  const normal = normalizeKey(key);
  if (normal === '') throw refused(key, 'The key must not be blank.');
  if (key.includes('/')) return forCaller(normal, context);
  if (context.namespace !== undefined) return normalizeKey(`${context.namespace}/${normal}`);
  throw refused(
    key,
    `"${normal}" belongs to no session, since this call has none; give a full path such as "shared/${normal}".`,
  );
};

/** Sessions have names that a stranger may guess; what results of clients are kept under nobody guesses. */
const forCaller = (path: string, { caller, namespace }: CallContext): string => {
  const open = [namespace, 'client', sharedNamespace];
  const isOpen = open.some((one) => one !== undefined && isBelow(`${path}/x`, one));
  if (caller !== 'client' || isOpen) return path;
  throw refused(path, `"${path}" belongs to a conversation of this gateway, which clients do not read.`);
};

const toWritableKey = (key: string, context: CallContext): string => {
  const fullKey = toFullKey(key, context);
  const writable = [context.namespace ?? sharedNamespace, sharedNamespace];
  if (writable.some((namespace) => isBelow(fullKey, namespace))) return fullKey;
  const allowed = [...new Set(writable)].map((namespace) => `"${namespace}/…"`).join(' and ');
  throw refused(key, `"${fullKey}" is not yours to change; you may write to ${allowed}, or give a key without "/".`);
};

const toListedPath = (namespace: string | undefined, context: CallContext): string => {
  const path = normalizeKey(namespace ?? '') || context.namespace;
  if (path === undefined)
    throw refused('', 'This call has no session; name the namespace to search, such as "shared".');
  // Listing all sessions would give away the ids that keep their entries private.
  if (path.includes('/') || namespaceOf(path) === sharedNamespace) return forCaller(path, context);
  throw refused(path, `"${path}" is not a whole namespace; name one such as "${path}/{id}", or "shared".`);
};

/** Keys to try instead of a missing one of a subagent: what the task did store, else the same key of another task. */
const alternatives = async (memory: WorkingMemory, fullKey: string, context: CallContext): Promise<string[]> => {
  const [kind = '', id = '', ...rest] = foldKey(fullKey).split('/');
  if (kind !== 'subagent' || rest.length === 0) return [];
  const ofTask = await memory.list(`${kind}/${id}`);
  // Tasks of other tenants are nobody's business.
  if (ofTask.length > 0 || context.caller !== 'model' || context.workspace !== undefined) return keysOf(ofTask);
  const name = rest.join('/');
  return keysOf(await memory.list(kind)).filter((key) => foldKey(key).split('/').slice(2).join('/') === name);
};

const keysOf = (entries: readonly { key: string }[]): string[] => entries.map(({ key }) => key);

const refused = (key: string, message: string): GantryError =>
  new GantryError('memory_refused', message, { details: { key } });
