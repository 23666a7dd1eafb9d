import { notAnAddress } from './address-classes.ts';
import { classifyAddress } from './classify-address.ts';
import { classifyHostName } from './host-rules.ts';
import type { IsOwnListener } from './own-listeners.ts';
import type { NetPolicy } from './policy.ts';
import { opensPrivateNetworks } from './policy.ts';
import { hostRefusal, refusal } from './refusal.ts';

/** What hosts are judged by. */
export interface VetRules {
  readonly policy: NetPolicy;
  readonly isOwnListener: IsOwnListener;
}

/**
 * Judges a host by its name alone.
 *
 * @throws {GantryError} `address_refused` for names that policy keeps closed.
 */
export const vetHostName = (host: string, { policy }: VetRules): void => {
  const type = classifyHostName(host);
  if (type && (type.metadata || !opensPrivateNetworks(policy)))
    throw hostRefusal(host, host, type, { policy, resolved: [] });
};

/**
 * Judges all addresses of a host. One that policy keeps closed closes the host: which of them is dialled is not for it to choose.
 *
 * @throws {GantryError} `address_refused`.
 */
export const vetAddresses = (
  host: string,
  port: number,
  addresses: readonly string[],
  { policy, isOwnListener }: VetRules,
): void => {
  const open = opensPrivateNetworks(policy);
  for (const address of addresses) {
    const type = classifyAddress(address);
    if (!type.public && (type.metadata || !open || type === notAnAddress))
      throw hostRefusal(host, address, type, { policy, resolved: addresses });
    if (isOwnListener(address, port)) {
      const message = `"${host}" port ${port} is a listener of Gantry itself (${address}), which is never fetched.`;
      throw refusal('OWN_LISTENER_BLOCKED', message, { host, details: { address, port, resolved: addresses } });
    }
  }
};
