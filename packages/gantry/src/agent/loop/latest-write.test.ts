import { expect, it } from 'vitest';
import { giveWay } from '../../kernel/side-by-side.ts';
import { createLatestWrite } from './latest-write.ts';

it('has one write at a time, and the next one holds all that came meanwhile', async () => {
  const gates = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
  const written: number[] = [];
  let value = 0;
  const latest = createLatestWrite(async () => {
    written.push(value);
    await gates[written.length - 1]?.promise;
  });
  const change = (): void => {
    value += 1;
    latest.request();
  };
  for (let at = 0; at < 10; at += 1) change();
  await giveWay();
  await giveWay();
  expect(written).toEqual([10]);
  for (let at = 0; at < 10; at += 1) change();
  await giveWay();
  await giveWay();
  expect(written).toEqual([10]);
  for (const { resolve } of gates) resolve();
  await latest.settled();
  expect(written).toEqual([10, 20]);
  change();
  await latest.settled();
  expect(written).toEqual([10, 20, 21]);
});

it('says at the end that a write failed, and tries no further', async () => {
  let writes = 0;
  const latest = createLatestWrite(async () => {
    writes += 1;
    throw new Error('the disk is full');
  });
  latest.request();
  await giveWay();
  await giveWay();
  latest.request();
  await expect(latest.settled()).rejects.toThrow('the disk is full');
  expect(writes).toBe(1);
});
