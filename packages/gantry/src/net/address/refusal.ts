import { GantryError } from '../../kernel/errors.ts';
import type { AddressClass } from './address-classes.ts';
import type { NetPolicy } from './policy.ts';

/** Why an address was refused: `details.reason` of an `address_refused` error. */
export type RefusalReason =
  | 'INVALID_FORMAT'
  | 'INVALID_PROTOCOL'
  | 'PORT_BLOCKED'
  | 'DNS_RESOLUTION_FAILED'
  | 'PRIVATE_NETWORK_BLOCKED'
  | 'OWN_LISTENER_BLOCKED';

/** An address that policy does not allow: `address_refused` with the reason in `details`. */
export const refusal = (
  reason: RefusalReason,
  message: string,
  options: { host?: string | undefined; details?: Readonly<Record<string, unknown>> | undefined; cause?: unknown } = {},
): GantryError =>
  new GantryError('address_refused', message, {
    details: { reason, ...(options.host === undefined ? {} : { host: options.host }), ...options.details },
    cause: options.cause,
  });

/**
 * The refusal of a host for what it is or resolves to.
 *
 * @param subject what is judged: the offending address, or the host itself when its name alone decides.
 * @param resolved every address of the host; empty when nobody was asked.
 */
export const hostRefusal = (
  host: string,
  subject: string,
  type: AddressClass,
  options: { policy: NetPolicy; resolved: readonly string[] },
): GantryError => {
  const about = subject === host ? `"${host}" is refused` : `"${host}" is refused because of ${subject}`;
  const all =
    subject === host || options.resolved.length === 0 ? '' : ` It resolves to ${options.resolved.join(', ')}.`;
  return refusal('PRIVATE_NETWORK_BLOCKED', `${about}: ${type.reason}.${all} ${wayOut(type, options.policy)}`, {
    host,
    details: { address: subject, resolved: options.resolved, metadata: type.metadata },
  });
};

const wayOut = (type: AddressClass, policy: NetPolicy): string => {
  if (type.metadata)
    return 'Cloud metadata is never fetched, and FETCH_URL_ALLOW_PRIVATE_NETWORK does not change that.';
  if (policy.strict) return 'Only addresses of the public internet are allowed here.';
  return 'Only the public internet is fetched; an operator can open private networks with FETCH_URL_ALLOW_PRIVATE_NETWORK=true.';
};
