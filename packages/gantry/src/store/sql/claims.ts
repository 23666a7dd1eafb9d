import type { Claim } from './sql.ts';

/** Claims one row of a group of rows, beside others that claim other rows of it. */
export const rowOf = (group: string, id: string): readonly Claim[] => [
  { on: group, isShared: true },
  { on: `${group}\n${id}` },
];

/** Claims all rows of a group, for work that counts them or changes many: two that change the same rows in another order would wait for each other. */
export const allOf = (group: string): readonly Claim[] => [{ on: group }];

/** Claims that a lease stays as it is, beside others that only rely on it too. */
export const leaseKept = (name: string): Claim => ({ on: leaseKey(name), isShared: true });

/** Claims a lease to change it. */
export const leaseOf = (name: string): readonly Claim[] => [{ on: leaseKey(name) }];

const leaseKey = (name: string): string => `lease\n${name}`;
