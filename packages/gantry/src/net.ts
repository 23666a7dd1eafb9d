/** The guarded HTTP client: `fetch` for addresses that a model, a page or a server named. */
export { classifyAddress } from './net/address/classify-address.ts';
export type { AddressClass } from './net/address/address-classes.ts';
export { createGuardedClient } from './net/guarded-client.ts';
export type { GuardedClient, GuardedClientOptions, GuardedFetch, GuardedInit, Network } from './net/guarded-client.ts';
export type { Dial } from './net/guarded-connector.ts';
export { guardedFetch } from './net/guarded-fetch.ts';
export type { CallLimits, ConnectionLimits } from './net/limits.ts';
export { createOwnListeners } from './net/address/own-listeners.ts';
export type { IsOwnListener, OwnListeners } from './net/address/own-listeners.ts';
export { readNetPolicy } from './net/address/policy.ts';
export type { NetPolicy } from './net/address/policy.ts';
export { readBody } from './net/read-body.ts';
export type { BodyBytes } from './net/read-body.ts';
export type { RefusalReason } from './net/address/refusal.ts';
export type { Lookup } from './net/address/resolve-pinned.ts';
