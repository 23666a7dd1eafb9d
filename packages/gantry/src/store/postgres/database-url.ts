import { GantryError } from '../../kernel/errors.ts';

/** True for a URL that names a PostgreSQL database: `postgres://` or `postgresql://`, whose parts can be decoded. */
export const isDatabaseUrl = (url: string): boolean => parse(url) !== undefined;

/**
 * Host, port and name of a database as they may be shown: without user, password and options.
 * @throws {GantryError} `config_invalid` when it is none. The message does not repeat the URL.
 */
export const shownDatabase = (url: string): string => {
  const parsed = parse(url);
  if (!parsed)
    throw new GantryError(
      'config_invalid',
      'The address of the store is no PostgreSQL URL; write it as postgres://user:password@host:5432/database, with special characters of user and password escaped.',
      { details: { path: 'store.url' } },
    );
  const host = parsed.host || parsed.searchParams.get('host') || 'localhost';
  return `${host}${parsed.pathname === '/' ? '' : parsed.pathname}`;
};

const parse = (url: string): URL | undefined => {
  // The driver reads what a URL leaves open to doubt in its own way, so such a URL could be shown with its password.
  if (/[\s\\]/.test(url)) return undefined;
  const parsed = URL.parse(url);
  const isPostgres = parsed !== null && /^postgres(?:ql)?:$/.test(parsed.protocol);
  return isPostgres && [parsed.username, parsed.password, parsed.pathname].every(isDecodable) ? parsed : undefined;
};

// The driver decodes these parts, and its error would hold them.
const isDecodable = (part: string): boolean => {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
};
