import type { GuardedClient, GuardedClientOptions } from '../net/guarded-client.ts';
import { createGuardedClient } from '../net/guarded-client.ts';
import type { NetPolicy } from '../net/address/policy.ts';

/** How this product names itself to servers. */
export const productAgent = 'Gantry/1.0 (tools of an LLM agent)';

/** The clients of the web tools, one for each kind of address. */
export interface WebClients extends AsyncDisposable {
  /** For addresses that a model, a page or an engine named. */
  readonly named: GuardedClient;
  /** For services of the public internet that we name ourselves; never anywhere else, whatever policy opens. */
  readonly strict: GuardedClient;
  /** For addresses that the operator wrote down; only metadata services and own listeners stay closed. */
  readonly operator: GuardedClient;
}

/** Makes the clients under the policy of this process. */
export const createWebClients = (
  policy: NetPolicy,
  options: Pick<GuardedClientOptions, 'isOwnListener' | 'clock' | 'lookup' | 'dial'>,
): WebClients => {
  const clients = {
    named: createGuardedClient({ ...options, policy }),
    strict: createGuardedClient({ ...options, policy: { ...policy, strict: true } }),
    operator: createGuardedClient({ ...options, policy: { production: false, allowPrivateNetwork: true } }),
  };
  return {
    ...clients,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(Object.values(clients).map((client) => client[Symbol.asyncDispose]()));
    },
  };
};
