import { expect, it } from 'vitest';
import { giveWay, sideBySide } from './side-by-side.ts';

const numbers = Array.from({ length: 50 }, (_, at) => at);

it('does no more at a time than it may, and gives the results in the sequence of the items', async () => {
  let running = 0;
  let highest = 0;
  const results = await sideBySide(numbers, 7, async (number) => {
    running += 1;
    highest = Math.max(highest, running);
    // The later ones of a few end first.
    for (let turns = number % 7; turns < 7; turns += 1) await giveWay();
    running -= 1;
    return number * 2;
  });
  expect(highest).toBe(7);
  expect(results).toEqual(numbers.map((number) => number * 2));
  expect(await sideBySide([], 7, async () => 1)).toEqual([]);
});

it('lets others have their turn between items that wait for nothing', async () => {
  let others = 0;
  const seen: number[] = [];
  const other = (): void => {
    others += 1;
    if (seen.length < numbers.length) setImmediate(other);
  };
  setImmediate(other);
  await sideBySide(numbers, 1, async () => seen.push(others));
  expect(new Set(seen).size).toBe(numbers.length);
});

it('begins nothing after one has failed', async () => {
  const begun: number[] = [];
  const work = async (number: number): Promise<void> => {
    begun.push(number);
    if (number === 3) throw new Error('no');
  };
  await expect(sideBySide(numbers, 2, work)).rejects.toThrow('no');
  await giveWay();
  await giveWay();
  expect(begun.length).toBeLessThan(6);
});
