import { GantryError } from '../kernel/errors.ts';
import type { IsOwnListener } from '../net/address/own-listeners.ts';
import type { NetPolicy } from '../net/address/policy.ts';
import { publicOnly } from '../net/address/policy.ts';
import type { GuardedFetch, Network } from '../net/guarded-client.ts';
import { createGuardedClient } from '../net/guarded-client.ts';
import type { Plugin } from '../plugin/plugin.ts';
import type { RestEndpoint } from './endpoint.ts';
import { restGuide } from './rest-guide.ts';
import { restTool } from './rest-tool.ts';

/** Settings of {@link rest}; section `rest` of the configuration. */
export interface RestSettings {
  /** Endpoints by the name of their tool. */
  readonly tools: Readonly<Record<string, RestEndpoint>>;
}

/** How the plugin is used. */
export interface RestOptions extends RestSettings {
  /** Holds the secrets that endpoints name; default the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** What this process listens on is never fetched. Default: it listens on nothing. */
  readonly isOwnListener?: IsOwnListener | undefined;
  /** Default: the system's. */
  readonly network?: Network | undefined;
}

const operatorsOwn: NetPolicy = { production: false, allowPrivateNetwork: true };
const publicStrictly: NetPolicy = { ...publicOnly, strict: true };

/** HTTP endpoints as tools, with their guide. */
export const rest = ({ tools, env = process.env, isOwnListener, network }: RestOptions): Plugin => ({
  name: 'rest',
  setup: (gantry) => {
    const entries = Object.entries(tools);
    if (entries.length === 0) return;
    const clientFetch = (policy: NetPolicy): GuardedFetch => {
      const client = createGuardedClient({ ...network, policy, isOwnListener, clock: gantry.clock });
      gantry.onStop(() => client[Symbol.asyncDispose]());
      return client.fetch;
    };
    const open = clientFetch(operatorsOwn);
    const closed = withAdvice(clientFetch(publicStrictly));
    for (const [name, endpoint] of entries) {
      const tool = restTool(name, endpoint, { env, fetch: endpoint.private === true ? open : closed });
      gantry.tools.register(tool.registration, tool.executor);
    }
    gantry.guides.add(restGuide(tools));
  },
});

/** Says what opens a private address that the operator means. */
const withAdvice =
  (fetch: GuardedFetch): GuardedFetch =>
  async (url, init) => {
    try {
      return await fetch(url, init);
    } catch (error) {
      if (!GantryError.is(error) || error.code !== 'address_refused' || error.details['metadata'] !== false)
        throw error;
      const advice = 'An operator who means this address sets "private": true in the entry of the tool.';
      throw new GantryError('address_refused', `${error.message} ${advice}`, { details: error.details, cause: error });
    }
  };
