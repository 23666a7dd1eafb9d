import { randomFillSync } from 'node:crypto';

const pool = Buffer.alloc(16 * 256);
let used = pool.length;

/** A new unguessable id: 128 random bits as 32 hex digits. */
export const newId = (): string => {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  const id = pool.toString('hex', used, used + 16);
  used += 16;
  return id;
};

/** Makes ids; an argument wherever a test needs to know them beforehand. */
export type NewId = () => string;
