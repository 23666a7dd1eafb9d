import { GantryError, messageOf } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json.ts';

/** What the server said no to, by the code of SQL's own list (`SQLSTATE`); undefined when no answer came. */
export const sqlStateOf = (error: unknown): string | undefined => {
  const code: unknown = isObject(error) && 'severity' in error ? error['code'] : undefined;
  return typeof code === 'string' ? code : undefined;
};

/**
 * True when the connection is of no use any more: no answer came, or the server ended it (classes 08 and 57 of `SQLSTATE`, but for a
 * statement that was cancelled, 57014).
 */
export const isConnectionLost = (error: unknown): boolean => {
  const state = sqlStateOf(error);
  return state === undefined || /^(?:08|57(?!014))/.test(state);
};

/**
 * A database that cannot be used, as an error that names it; it never holds user or password.
 * @param address host, port and name
 */
export const unavailable = (address: string, error: unknown): GantryError => {
  const sqlState = sqlStateOf(error);
  if (sqlState !== undefined && /^(?:22|54)/.test(sqlState))
    // Its index rows hold 2,704 bytes, compressed; no other text of ours has a limit.
    return new GantryError(
      'invalid_arguments',
      `The store takes no such key or id: ${messageOf(error)}. Use a shorter one.`,
      {
        cause: error,
      },
    );
  return new GantryError(
    'store_unavailable',
    `The store in PostgreSQL at ${address} cannot be used: ${reasonOf(error)}. ${certificateAdvice(error) ?? adviceFor(sqlState)}`,
    { details: { path: address, errcode: sqlState }, cause: isSignIn(sqlState) ? undefined : error },
  );
};

/** That nobody knows whether a write took place. It is not to be repeated without a look. */
export const inDoubt = (address: string): GantryError =>
  new GantryError(
    'store_unavailable',
    `The connection to the store in PostgreSQL at ${address} was lost while a write was being committed, so it is not known whether it took place; read before it is repeated.`,
    { details: { path: address, isInDoubt: true }, retry: 'never' },
  );

// A host with several addresses fails with one error for each, and the whole has no message.
const reasonOf = (error: unknown): string => {
  const first = error instanceof AggregateError ? error.errors[0] : error;
  // The server names the user whose password was wrong, and the address it came from.
  return isSignIn(sqlStateOf(first)) ? 'it refuses the user or the password' : messageOf(first);
};

const isSignIn = (sqlState: string | undefined): boolean => sqlState?.startsWith('28') === true;

// What Node's TLS says of a certificate, and the driver of a server without TLS.
const certificateFaults: Readonly<Record<string, string>> = {
  ERR_TLS_CERT_ALTNAME_INVALID:
    'The certificate is for another host: use the name that stands in it in "store": {"url": …} (GANTRY_STORE__URL), or give the server one for this name.',
  CERT_HAS_EXPIRED: 'Give the server a certificate that has not expired.',
};
const unknownCa = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
]);

/** What to do about TLS; undefined where that is not the problem. */
const certificateAdvice = (error: unknown): string | undefined => {
  const { code, syscall } = (error instanceof AggregateError ? error.errors[0] : error) as NodeJS.ErrnoException;
  if (typeof code === 'string' && unknownCa.has(code))
    return 'Name the file of the certificate authority that signed the certificate of the server with "sslrootcert" in "store": {"url": …} (GANTRY_STORE__URL).';
  if (code === 'ENOENT' && syscall === 'open')
    return 'See that "sslrootcert", "sslcert" and "sslkey" in "store": {"url": …} (GANTRY_STORE__URL) name files that this process can read.';
  if (messageOf(error) === 'The server does not support SSL connections')
    return 'Turn TLS on in the server (ssl = on), or leave "sslmode" out of "store": {"url": …} (GANTRY_STORE__URL) where the way to it is safe.';
  return code === undefined ? undefined : certificateFaults[code];
};

const adviceFor = (sqlState: string | undefined): string => {
  switch (sqlState?.slice(0, 2)) {
    case '28':
      return 'Correct user and password in "store": {"url": …} (GANTRY_STORE__URL), or what pg_hba.conf allows.';
    case '3D':
      return 'Create the database, or correct its name in "store": {"url": …} (GANTRY_STORE__URL).';
    case '42':
      return 'The user needs the right to create tables in the schema, and to read and write them.';
    case '53':
      return 'The server has no room: more connections (max_connections), memory or disk.';
    case '55':
      return 'Another process held what this write needs for too long; try again later.';
    default:
      return 'Try again later; an operator sees to it that the server runs and that "store": {"url": …} is right ("gantry doctor" checks it).';
  }
};
