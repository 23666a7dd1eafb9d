import { GantryError } from '../../../kernel/errors.ts';
import type { MaskSecrets } from '../config/entry-secrets.ts';
import { ownErrorOf, toConnectionFault } from '../connection/connection-errors.ts';

/** What an attempt to connect threw, as the error that status, log and callers show, without the secrets of the entry. */
export const toConnectError = (name: string, error: unknown, mask: MaskSecrets): GantryError => {
  const own = ownErrorOf(error);
  if (own) {
    const { code, message, details, retry, cause } = own;
    const masked = mask(message);
    return masked === message ? own : new GantryError(code, masked, { details, retry, cause });
  }
  const fault = toConnectionFault(error, { hadSession: false, mask });
  if (fault.kind === 'auth')
    return new GantryError(
      'auth_required',
      `Server "${name}" cannot be used yet: ${fault.message}. Sign in with "gantry servers login ${name}", or give a valid token in its "headers".`,
      { details: { server: name }, cause: error },
    );
  const what = fault.kind === 'refused' ? `it refused with error ${fault.code}: ${fault.message}` : fault.message;
  return new GantryError('server_unreachable', `Server "${name}" cannot be reached: ${what}.`, {
    details: { name },
    cause: error,
  });
};

/** The error of whoever still holds a server that was taken out of the file, or is configured anew under its name. */
export const serverGone = (name: string): GantryError =>
  new GantryError('server_unknown', `Server "${name}" is gone: its entry was removed or replaced.`, {
    details: { name },
  });

/** The error of a call to a server that is left alone for a while. */
export const inQuarantine = (name: string, forMs: number, reason: string | undefined): GantryError =>
  new GantryError(
    'server_unreachable',
    `Server "${name}" keeps failing and is left alone for another ${Math.ceil(forMs / 1000)} s; "gantry servers refresh ${name}" tries it at once. ${reason ?? ''}`.trimEnd(),
    { details: { name } },
  );
