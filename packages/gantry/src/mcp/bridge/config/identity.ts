import { createHash } from 'node:crypto';
import type { ServerEntry } from './server-entry.ts';
import { isStdioEntry, transportModeOf } from './server-entry.ts';

/**
 * What makes an entry this server and not another, for finding doubles: how it is reached and which tools are let through.
 * Names, ids and policy are not part of it.
 */
export const identityOf = (entry: ServerEntry): string =>
  JSON.stringify([
    isStdioEntry(entry) ? 'stdio' : 'http',
    entry.url === undefined ? null : normaliseUrl(entry.url),
    transportModeOf(entry),
    entry.command ?? null,
    entry.args ?? [],
    sortedPairs(entry.env),
    sortedPairs(entry.headers, (name) => name.toLowerCase()),
    (entry.allowedTools ?? []).toSorted(),
    (entry.deniedTools ?? []).toSorted(),
    entry.auth?.profile ?? null,
    // A program works on what is in its folder. Others have no such member, so that their published identity does not depend on it.
    ...(entry.cwd === undefined ? [] : [entry.cwd]),
  ]);

/** The published form of an identity: 16 hex digits of its SHA-256, because the identity itself holds secrets. */
export const identityHashOf = (entry: ServerEntry): string =>
  createHash('sha256').update(identityOf(entry)).digest('hex').slice(0, 16);

/** Scheme, host and port in lower case and without the default port; path and query as they are, without slashes at the end of the path. */
export const normaliseUrl = (url: string): string => {
  if (!URL.canParse(url)) return url;
  const { protocol, username, password, host, pathname, search } = new URL(url);
  const user = username === '' && password === '' ? '' : `${username}:${password}@`;
  return `${protocol}//${user}${host}${pathname.replace(/\/+$/, '')}${search}`;
};

const sortedPairs = (
  record: Readonly<Record<string, string>> | undefined,
  toKey: (name: string) => string = (name) => name,
): readonly (readonly [string, string])[] =>
  Object.entries(record ?? {})
    .map(([name, value]) => [toKey(name), value] as const)
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
