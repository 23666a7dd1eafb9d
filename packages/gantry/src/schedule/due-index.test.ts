import { expect, it } from 'vitest';
import { createDueIndex } from './due-index.ts';

it('gives what is due in order of time, and each once', () => {
  const due = createDueIndex();
  for (const atMs of [5, 3, 9, 1, 7, 3]) due.set(`t${atMs}`, atMs);
  expect(due.size).toBe(5);
  const taken: string[] = [];
  for (let id = due.takeDue(7); id !== undefined; id = due.takeDue(7)) taken.push(id);
  expect(taken).toEqual(['t1', 't3', 't5', 't7']);
  expect(due.nextMs()).toBe(9);
});

it('forgets the time that an id had before, and ids that were removed', () => {
  const due = createDueIndex();
  due.set('a', 1);
  due.set('b', 2);
  due.set('a', 10);
  due.remove('b');
  expect(due.nextMs()).toBe(10);
  expect(due.takeDue(9)).toBeUndefined();
  expect(due.takeDue(10)).toBe('a');
  expect(due.nextMs()).toBeUndefined();
});

it('keeps the order through many replacements', () => {
  const due = createDueIndex();
  for (let round = 0; round < 1000; round += 1) due.set(`t${round % 7}`, 1000 - round);
  expect(due.size).toBe(7);
  const times: number[] = [];
  for (let nextMs = due.nextMs(); nextMs !== undefined; nextMs = due.nextMs()) {
    times.push(nextMs);
    due.takeDue(nextMs);
  }
  expect(times).toEqual([1, 2, 3, 4, 5, 6, 7]);
});
