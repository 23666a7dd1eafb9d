/** Which addresses may be fetched. Addresses of cloud metadata services and Gantry's own listeners never may. */
export interface NetPolicy {
  /** False outside production, where private networks are open. */
  readonly production: boolean;
  /** Opens private networks in production too. */
  readonly allowPrivateNetwork: boolean;
  /** Keeps private networks closed whatever the other two say: for addresses that users, not operators, name. */
  readonly strict?: boolean | undefined;
}

/** The policy where nothing is said: only the public internet. */
export const publicOnly: NetPolicy = { production: true, allowPrivateNetwork: false };

/** True where private networks may be fetched. */
export const opensPrivateNetworks = (policy: NetPolicy): boolean =>
  policy.strict !== true && (!policy.production || policy.allowPrivateNetwork);

/**
 * Reads the policy from `RUN_ENV` (unset, empty or `production` is production) and `FETCH_URL_ALLOW_PRIVATE_NETWORK` (`true`, `1`,
 * `yes`, `on`; anything else is no).
 */
export const readNetPolicy = (env: Readonly<Record<string, string | undefined>>): NetPolicy => {
  const runEnv = (env['RUN_ENV'] ?? '').trim().toLowerCase();
  const allow = (env['FETCH_URL_ALLOW_PRIVATE_NETWORK'] ?? '').trim().toLowerCase();
  return {
    production: runEnv === '' || runEnv === 'production',
    allowPrivateNetwork: ['true', '1', 'yes', 'on'].includes(allow),
  };
};
