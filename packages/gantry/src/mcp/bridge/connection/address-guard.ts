import type { buildConnector } from 'undici';
import type { Clock } from '../../../kernel/clock.ts';
import type { IsOwnListener } from '../../../net/address/own-listeners.ts';
import type { NetPolicy } from '../../../net/address/policy.ts';
import { createResolver, systemLookup } from '../../../net/address/resolve-pinned.ts';
import { parseTarget } from '../../../net/address/target.ts';
import { vetAddresses, vetHostName } from '../../../net/address/vet.ts';
import type { Dial } from '../../../net/guarded-connector.ts';
import { guardedConnector } from '../../../net/guarded-connector.ts';
import { defaultCallLimits, defaultConnectionLimits } from '../../../net/limits.ts';

/** Keeps servers that a model named away from addresses that policy keeps closed. */
export interface AddressGuard {
  /**
   * Judges a URL.
   * @throws {GantryError} `address_refused` with the reason.
   */
  check(url: string): Promise<void>;
  /** Judges every connection again when it is made, so that neither DNS nor a redirect leads elsewhere. */
  connector(dial: Dial): buildConnector.connector;
}

/** Makes the guard. */
export const createAddressGuard = (
  rules: { readonly policy: NetPolicy; readonly isOwnListener: IsOwnListener },
  clock: Clock,
): AddressGuard => {
  const { dnsMs: timeoutMs, connectMs } = defaultConnectionLimits;
  const resolve = createResolver({ lookup: systemLookup, clock, timeoutMs, pinMs: defaultCallLimits.totalMs });
  return {
    check: async (url) => {
      const { host, port, literal } = parseTarget(url);
      if (!literal) vetHostName(host, rules);
      vetAddresses(host, port, literal ? [host] : await resolve(host), rules);
    },
    connector: (dial) => guardedConnector({ rules, resolve, dial, clock, connectMs }),
  };
};
