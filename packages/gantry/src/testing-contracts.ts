/** The suites that every adapter of a port passes; they run in vitest. */
export { busContract } from './testing/contracts/bus-contract.ts';
export { storeContract } from './testing/contracts/store-contract.ts';
